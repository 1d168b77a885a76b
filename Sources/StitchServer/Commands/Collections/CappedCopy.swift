internal import BSONStore

/// A copy of a collection's options and newest documents into a new capped collection; its indexes
/// are not copied.
struct CappedCopy {
    let source: Namespace
    let target: Namespace
    /// The size of the copy in bytes.
    let size: Int

    /// Creates the copy.
    ///
    /// - Throws: 26 for a missing source, 166 for a view, 48 for an existing target, 2 for a size of
    ///   more than 1 PiB.
    func make(_ call: CommandCall, _ transaction: WriteTransaction) throws {
        guard let options = try transaction.options(source) else {
            throw CommandFailure(.namespaceNotFound, "source collection \(source) does not exist")
        }
        guard options.view == nil else {
            throw CommandFailure(
                .commandNotSupportedOnView, "cannot convert view to capped: \(source)")
        }
        var changed = BSONDocument()
        changed.append("create", .string(target.collection))
        for (key, value) in options.document where !["capped", "size", "max"].contains(key) {
            changed.append(key, value)
        }
        changed.append("capped", true)
        changed.append("size", .int64(Int64(size)))
        try transaction.createCollection(target, CollectionOptions(changed))
        try transaction.forEach(source, filter: .all) { document in
            try call.checkTime()
            try transaction.insert(target, document)
        }
    }
}
