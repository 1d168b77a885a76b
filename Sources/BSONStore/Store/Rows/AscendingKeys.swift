/// The keys of many ids in ascending order, which one walk over the index finds.
package struct AscendingKeys {
    /// The least number of ids for which a walk pays.
    private static let countMin = 8

    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// Encodes ids as keys; `nil` when they are few or not in key order.
    package init?(_ ids: [BSONValue]) {
        guard ids.count >= Self.countMin else { return nil }
        bytes.reserveCapacity(ids.count * 16)
        ends.reserveCapacity(ids.count)
        var before = 0
        for id in ids {
            let start = bytes.count
            BSONKey.append(id, to: &bytes)
            if start > 0, !Self.isAscending(bytes, before, start) { return nil }
            before = start
            ends.append(bytes.count)
        }
    }

    /// Whether the key that begins at `middle` is greater than the key that begins at `start`.
    private static func isAscending(_ bytes: [UInt8], _ start: Int, _ middle: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            BSONOrder.compareBytes(
                UnsafeRawBufferPointer(rebasing: bytes[start..<middle]),
                UnsafeRawBufferPointer(rebasing: bytes[middle...])) == .less
        }
    }

    /// Calls a body with each key in order; all keys stay in place until the last call ends.
    ///
    /// - Parameter body: returns false to stop.
    func forEach(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try bytes.withLentBytes { (all) throws(StoreError) in
            var start = 0
            for end in ends {
                guard try body(UnsafeRawBufferPointer(rebasing: all[start..<end])) else { return }
                start = end
            }
        }
    }
}
