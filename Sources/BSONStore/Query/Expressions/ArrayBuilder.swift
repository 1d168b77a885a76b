/// An array that an operator builds, counted while it grows.
struct ArrayBuilder {
    /// The values so far.
    private(set) var values: [BSONValue] = []
    /// The size of the array in bytes as BSON.
    private(set) var byteCount = 5
    private let bytesMax: Int
    private let holding = MemoryHolding.begin("an array")

    /// - Parameter bytesMax: the size after which the array is refused.
    init(bytesMax: Int = ExpressionLimits.bytesMax) { self.bytesMax = bytesMax }

    /// Adds a value.
    ///
    /// - Throws: 10334 if the array exceeds its maximum, 292 if the command's memory does.
    mutating func append(_ value: BSONValue) throws(StoreError) {
        try WorkBudget.spend()
        let count = 2 + BSONWriter.digits(values.count) + BSONWriter.count(value)
        byteCount += count
        guard byteCount <= bytesMax else { throw ExpressionLimits.tooLarge(byteCount) }
        try holding?.add(count + MemoryLayout<BSONValue>.stride)
        values.append(value)
    }

    /// The array as a value.
    var array: BSONValue { .array(BSONArray(values)) }
}
