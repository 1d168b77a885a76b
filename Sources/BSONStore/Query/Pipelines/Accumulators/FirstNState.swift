/// The values of the first documents; missing ones become null.
final class FirstNState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private var values: [BSONValue] = []

    init(_ capacity: AccumulatorLimit) { self.capacity = capacity }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard values.count < capacity.count else { return 0 }
        values.append(value?.compacted() ?? .null)
        return try capacity.memory.add(value ?? .null)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}
