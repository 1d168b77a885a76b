/// The values of the last documents; missing ones become null.
final class LastNState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private var values: [BSONValue] = []
    /// The index of the oldest value, once the state is full.
    private var oldest = 0

    init(_ capacity: AccumulatorLimit) { self.capacity = capacity }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        let value = value ?? .null
        guard values.count == capacity.count else {
            values.append(value.compacted())
            return try capacity.memory.add(value)
        }
        let growth = BSONWriter.count(value) - BSONWriter.count(values[oldest])
        values[oldest] = value.compacted()
        oldest = (oldest + 1) % capacity.count
        return growth
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(Array(values[oldest...] + values[..<oldest]))
    }
}
