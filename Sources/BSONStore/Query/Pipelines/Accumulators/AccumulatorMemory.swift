/// Counts the bytes that one accumulator holds.
struct AccumulatorMemory {
    private let name: String
    private let bytesMax: Int
    private var bytes = 0

    init(_ name: String, _ bytesMax: Int) {
        self.name = name
        self.bytesMax = bytesMax
    }

    /// Notes that a value is held, and returns its bytes.
    ///
    /// - Throws: `exceededMemoryLimit` (146) when they are too many.
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
