internal import BSONStore

/// Names that are looked up by the bytes of a key, without making a text of it.
struct NameTable: Sendable {
    private struct Entry {
        let start: Int
        let count: Int
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    init(_ names: some Sequence<String>) {
        for name in names {
            entries.append(Entry(start: bytes.count, count: name.utf8.count))
            bytes += name.utf8
        }
    }

    /// Returns the index of the name with the same bytes as a key; `nil` if the table has no such name.
    ///
    /// Cost: O(names), by comparing lengths first.
    func index(of key: UnsafeRawBufferPointer) -> Int? {
        bytes.withUnsafeBytes { bytes in
            entries.firstIndex { entry in
                entry.count == key.count
                    && BSONCursor.isEqual(
                        key,
                        UnsafeRawBufferPointer(
                            rebasing: bytes[entry.start..<entry.start + entry.count])
                    )
            }
        }
    }
}
