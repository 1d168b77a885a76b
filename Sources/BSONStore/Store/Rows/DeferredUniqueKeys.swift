/// The unique keys that a part of a transaction added and removed, whose uniqueness is checked at
/// its end.
final class DeferredUniqueKeys {
    /// One key of a row that the part added or removed.
    struct Entry {
        let index: StoredIndex
        let table: CollectionTable
        let key: [UInt8]
        let row: Int64
        let isAdded: Bool
    }

    /// A key of one index.
    private struct Key: Hashable {
        let index: Int64
        let bytes: [UInt8]

        init(_ entry: Entry) { (index, bytes) = (entry.index.id, entry.key) }
    }

    /// The entries in order; a savepoint that is undone removes its own.
    private(set) var entries: [Entry] = []

    func note(_ entry: Entry) { entries.append(entry) }

    /// Forgets the entries after the first ones.
    func keepFirst(_ count: Int) { entries.removeLast(max(0, entries.count - count)) }

    /// Returns an entry of each row that has to give up the keys that it added.
    ///
    /// These are the rows that took a key which another row still has, and those that took a key of
    /// such a row, which gets it back.
    ///
    /// - Parameter owners: returns the rows that have a key of an index now.
    func collisions(
        _ owners: (StoredIndex, [UInt8]) throws(StoreError) -> [Int64]
    ) throws(StoreError) -> [Entry] {
        var takers: [Key: [Entry]] = [:]
        var given: [Int64: [Key]] = [:]
        for entry in entries {
            let key = Key(entry)
            if entry.isAdded {
                takers[key, default: []].append(entry)
            } else {
                given[entry.row, default: []].append(key)
            }
        }
        var refused: [Int64: Entry] = [:]
        var open: [Entry] = []
        func refuse(_ entry: Entry) {
            guard refused[entry.row] == nil else { return }
            refused[entry.row] = entry
            open.append(entry)
        }
        for entry in entries where entry.isAdded {
            let owners = try owners(entry.index, entry.key)
            guard owners.count > 1, owners.contains(entry.row) else { continue }
            // Of several rows that took the key, the first keeps it if no other row has it.
            let takers = takers[Key(entry)]?.filter { owners.contains($0.row) } ?? []
            let isFree = Set(takers.map(\.row)).count == owners.count
            if !isFree || takers.first?.row != entry.row { refuse(entry) }
        }
        while let entry = open.popLast() {
            for key in given[entry.row] ?? [] { takers[key]?.forEach(refuse) }
        }
        return refused.keys.sorted().compactMap { refused[$0] }
    }
}
