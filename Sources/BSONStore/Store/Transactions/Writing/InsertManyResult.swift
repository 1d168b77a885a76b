/// The added and the refused documents of one call.
package struct InsertManyResult: Sendable {
    /// The `_id`s of the documents that were added, in order.
    package internal(set) var ids: [BSONValue] = []
    /// The documents that were refused, in order.
    package internal(set) var errors: [BulkWriteResult.WriteError] = []

    /// Returns the `_id`s if all documents were added.
    ///
    /// - Throws: the first refusal; its `writes` counts what was done.
    func idsOrRefusal() throws(StoreError) -> [BSONValue] {
        guard var refusal = errors.first?.error else { return ids }
        var result = BulkWriteResult(errors: errors)
        let refused = Set(errors.map(\.index))
        var index = 0
        for id in ids {
            while refused.contains(index) { index += 1 }
            result.insertedIDs[index] = id
            index += 1
        }
        result.insertedCount = ids.count
        refusal.writes = result
        throw refusal
    }
}
