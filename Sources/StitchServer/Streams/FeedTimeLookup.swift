internal import BSONStore

/// Finds changes of the feed by the time of the operation that made them.
struct FeedTimeLookup {
    private let transaction: ReadTransaction
    private let head: Int64

    init(_ transaction: ReadTransaction) throws {
        self.transaction = transaction
        head = try transaction.changePosition
    }

    /// The position before the first change at a time or later; O(log n) reads.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) when older changes than those that are kept may be
    ///   of that time.
    func position(before time: BSONTimestamp) throws -> Int64 {
        var low = try floor()
        if low > 0, let first = try stamp(from: low)?.time, time < first {
            throw CommandFailure(
                286,
                "Resume of change stream was not possible, as the resume point may no longer be in "
                    + "the oplog.")
        }
        var high = head
        // Everything up to `low` is earlier, what is behind `high` is not.
        while low < high {
            let middle = low + (high - low) / 2
            if let found = try stamp(from: middle), found.time < time {
                low = max(found.position, middle + 1)
            } else {
                high = middle
            }
        }
        return low
    }

    /// The time of the last change, where it has one; the clock of a restarted server goes on there.
    func last() throws -> BSONTimestamp? {
        let begin = max(try floor(), head - 100)
        for position in stride(from: head, to: begin, by: -1) {
            let stamp = WriteStamp(try transaction.changeComment(at: position))
            if let stamp { return stamp.time }
        }
        return nil
    }

    /// The first change behind a position that has a time.
    private func stamp(from position: Int64) throws -> (position: Int64, time: BSONTimestamp)? {
        var position = position
        while position < head {
            let batch = try transaction.changes(after: position, limit: 16)
            for change in batch.changes {
                if let stamp = WriteStamp(change.comment) { return (change.position, stamp.time) }
            }
            position = batch.position
        }
        return nil
    }

    /// The position before the oldest change that is kept.
    private func floor() throws -> Int64 {
        var low: Int64 = -1
        var high = head
        // The feed refuses positions before its beginning.
        while low + 1 < high {
            let middle = low + (high - low) / 2
            do throws(StoreError) {
                _ = try transaction.changes(after: middle, limit: 1)
                high = middle
            } catch {
                guard error.code == .changeStreamHistoryLost else { throw error }
                low = middle
            }
        }
        return high
    }
}
