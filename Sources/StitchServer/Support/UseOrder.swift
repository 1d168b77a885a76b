/// Keys in the order of their last use.
///
/// A use costs the same however many keys there are, on average over many.
struct UseOrder<Key: Hashable & Sendable>: Sendable {
    private struct Use: Sendable {
        let key: Key
        let number: UInt64
    }

    /// The number of each key's last use.
    private var numbers: [Key: UInt64] = [:]
    /// The uses from `start` on, the oldest first; those that are not the last of their key are skipped.
    private var uses: [Use] = []
    private var start = 0
    private var lastNumber: UInt64 = 0

    /// The number of keys.
    var count: Int { numbers.count }

    /// Adds a key, or makes it the one that was used last.
    mutating func use(_ key: Key) {
        if uses.count > 2 * numbers.count + 32 {
            uses = uses[start...].filter(isLast)
            start = 0
        }
        lastNumber += 1
        numbers[key] = lastNumber
        uses.append(Use(key: key, number: lastNumber))
    }

    /// Removes a key, if it is there.
    mutating func remove(_ key: Key) { numbers[key] = nil }

    /// Returns the key that was used least recently.
    mutating func oldest() -> Key? {
        while start < uses.count {
            if isLast(uses[start]) { return uses[start].key }
            start += 1
        }
        return nil
    }

    /// Returns the key that was used least recently among those of a kind; the cost grows with the
    /// number of keys.
    func oldest(where isMeant: (Key) -> Bool) -> Key? {
        uses[start...].first { isLast($0) && isMeant($0.key) }?.key
    }

    private func isLast(_ use: Use) -> Bool { numbers[use.key] == use.number }
}
