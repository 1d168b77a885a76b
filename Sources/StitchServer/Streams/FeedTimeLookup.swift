internal import BSONStore

/// The search for feed changes by their operation time.
struct FeedTimeLookup {
    private let transaction: ReadTransaction
    private let head: Int64

    init(_ transaction: ReadTransaction) throws {
        self.transaction = transaction
        head = try transaction.changePosition
    }

    /// Returns the position before the first change at or after a time; O(log n) reads.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) if changes at that time may have been pruned.
    func position(before time: BSONTimestamp) throws -> Int64 {
        var low = try floor()
        if low > 0, let first = try stamp(from: low)?.time, time < first {
            throw CommandFailure(
                286,
                "Resume of change stream was not possible, as the resume point may no longer be in "
                    + "the oplog.")
        }
        var high = head
        // All changes up to `low` are earlier than the time; no change after `high` is.
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

    /// Returns the time of the last change that has one; a restarted server's clock continues
    /// there.
    func last() throws -> BSONTimestamp? {
        let begin = max(try floor(), head - 100)
        for position in stride(from: head, to: begin, by: -1) {
            let stamp = WriteStamp(try transaction.changeComment(at: position))
            if let stamp { return stamp.time }
        }
        return nil
    }

    /// Returns the first change with a time after a position.
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

    /// Returns the position before the oldest kept change.
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
