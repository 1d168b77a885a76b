internal import BSONStore

/// The feed positions at which collections were dropped, renamed or replaced.
///
/// After that, the name is that of another collection: MongoDB looks documents up by the UUID of the
/// collection that changed.
struct CollectionEnds: Sendable {
    private var last: [Namespace: Int64] = [:]
    /// The position up to which the feed was searched.
    private var position: Int64?

    /// Whether a later change in the feed ended the collection of a change; O(n) in the changes
    /// since the last call.
    mutating func follow(
        _ change: StoreChange, _ transaction: ReadTransaction
    ) throws -> Bool {
        let head = try transaction.changePosition
        let begin = position ?? change.position
        if begin < head {
            for change in try transaction.collectionChanges(after: begin) {
                last[change.namespace] = change.position
            }
            position = head
        }
        return last[change.namespace].map { $0 > change.position } ?? false
    }
}
