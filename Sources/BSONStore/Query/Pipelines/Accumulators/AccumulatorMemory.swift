/// The memory that one accumulator uses, in bytes.
struct AccumulatorMemory {
    private let name: String
    private let bytesMax: Int
    private var bytes = 0

    init(_ name: String, _ bytesMax: Int) {
        self.name = name
        self.bytesMax = bytesMax
    }

    /// Counts the bytes of a value and returns them.
    ///
    /// - Throws: `exceededMemoryLimit` (146) if they exceed the limit.
    mutating func add(_ value: BSONValue) throws(StoreError) -> Int {
        let count = BSONWriter.count(value) + 32
        bytes += count
        guard bytes <= bytesMax else {
            throw StoreError(
                .exceededMemoryLimit,
                "\(name) used too much memory and cannot spill to disk. Memory limit: "
                    + "\(bytesMax) bytes")
        }
        return count
    }
}
