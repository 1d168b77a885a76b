/// The outputs of the first or last documents in an order.
final class TopState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private let order: SortOrder
    private let isTop: Bool
    private let isSingle: Bool
    private var entries: [(key: [UInt8], output: BSONValue)] = []

    init(_ capacity: AccumulatorLimit, _ order: SortOrder, isTop: Bool, isSingle: Bool) {
        self.capacity = capacity
        self.order = order
        self.isTop = isTop
        self.isSingle = isSingle
    }

    override func add(
        _ value: BSONValue?, _ document: BSONDocument
    ) throws(StoreError) -> Int {
        let key = order.key(of: document, metadata: capacity.run.metadata)
        let output = value?.compacted() ?? .null
        let place = entries.insertionPlace { key.lexicographicallyPrecedes($0.key) }
        if entries.count == capacity.count {
            // Of equal documents, the earliest are kept.
            let (first, last) = (entries[0].key, entries[entries.count - 1].key)
            let isBetter =
                isTop
                ? key.lexicographicallyPrecedes(last) : first.lexicographicallyPrecedes(key)
            guard isBetter else { return 0 }
            entries.insert((key, output), at: place)
            if isTop { entries.removeLast() } else { entries.removeFirst() }
        } else {
            entries.insert((key, output), at: place)
        }
        return try capacity.memory.add(output) + key.count
    }

    override func result() throws(StoreError) -> BSONValue? {
        guard !isSingle else { return entries.first?.output ?? .null }
        return try ExpressionLimits.array(entries.map(\.output))
    }
}
