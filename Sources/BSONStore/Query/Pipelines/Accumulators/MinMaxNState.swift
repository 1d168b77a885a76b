/// The least or the greatest values in order; null and missing ones are ignored.
final class MinMaxNState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private let isMax: Bool
    private var values: [BSONValue] = []

    init(_ capacity: AccumulatorLimit, isMax: Bool) {
        self.capacity = capacity
        self.isMax = isMax
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value, !value.isNullish else { return 0 }
        let wanted: BSONOrder = isMax ? .greater : .less
        let place = values.insertionPlace { capacity.run.compare(value, $0) == wanted }
        guard place < capacity.count else { return 0 }
        values.insert(value.compacted(), at: place)
        if values.count > capacity.count { values.removeLast() }
        return try capacity.memory.add(value)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}
