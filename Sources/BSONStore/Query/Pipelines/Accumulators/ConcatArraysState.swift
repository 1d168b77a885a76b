/// The elements of all arrays in document order; missing arrays are ignored.
final class ConcatArraysState: AccumulatorState {
    private var values: [BSONValue] = []
    private var memory: AccumulatorMemory

    init(_ run: PipelineRun) { memory = AccumulatorMemory("$concatArrays", run.bytesMax) }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let array = try Self.array(value, "$concatArrays") else { return 0 }
        var growth = 0
        for element in array {
            try WorkBudget.spend()
            values.append(element.compacted())
            growth += try memory.add(element)
        }
        return growth
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }

    /// Returns the array that an accumulator of arrays takes; `nil` if it is missing.
    ///
    /// - Throws: `typeMismatch` (14) for other values, also for null.
    static func array(_ value: BSONValue?, _ name: String) throws(StoreError) -> BSONArray? {
        guard let value else { return nil }
        guard case .array(let array) = value else {
            throw StoreError(
                .typeMismatch,
                "\(name) requires array inputs, but input \(ExpressionText.text(of: value)) is of "
                    + "type \(value.type.alias)")
        }
        return array
    }
}
