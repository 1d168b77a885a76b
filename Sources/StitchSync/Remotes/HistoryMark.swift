internal import BSONStore

/// The marks that tell the histories of two stores apart.
enum HistoryMark {
    /// Returns a mark that differs from the mark of another history's change at the position; `nil`
    /// where the feed keeps no change.
    static func mark(
        at position: Int64, in transaction: ReadTransaction
    ) throws(StoreError) -> BSONValue? {
        guard position > 0 else { return nil }
        let changes: [StoreChange]
        do throws(StoreError) {
            changes = try transaction.changes(after: position - 1, in: nil, limit: 1) { after, _ in
                after == nil
            }
            .changes
        } catch {
            guard error.code == .changeStreamHistoryLost else { throw error }
            return nil
        }
        guard let change = changes.first else { return nil }
        var content: BSONDocument = [
            "kind": .int64(change.kind.rawValue), "of": .string(change.namespace.description),
            "id": change.documentID,
        ]
        if let comment = change.comment { content.append("comment", comment) }
        if let after = change.after {
            content.append("after", .binary(BSONBinary(after.contentHash().bytes)))
        }
        return .binary(BSONBinary(content.contentHash().bytes))
    }

    /// Checks that a position belongs to this history.
    ///
    /// The store may be another one, or an older copy with a history of its own.
    ///
    /// - Throws: `changeStreamHistoryLost` for another history.
    static func check(
        _ mark: BSONValue?, at position: Int64, in transaction: ReadTransaction
    ) throws(StoreError) {
        guard let mark, let now = try self.mark(at: position, in: transaction), now != mark else {
            return
        }
        throw StoreError(
            .changeStreamHistoryLost, "another change is at position \(position) by now")
    }
}
