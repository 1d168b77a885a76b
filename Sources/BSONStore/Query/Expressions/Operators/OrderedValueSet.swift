/// Different values in order; of equal values, the first is kept.
struct OrderedValueSet {
    private(set) var values: [BSONValue]
    private let context: ExpressionContext

    /// Adds each value of a list once.
    ///
    /// - Throws: the budget's error once it is over.
    init(_ array: [BSONValue], _ context: ExpressionContext) throws(StoreError) {
        self.context = context
        let sorted: [(offset: Int, element: BSONValue)]
        do {
            sorted = try array.enumerated().sorted { left, right in
                try WorkBudget.spend()
                let order = context.compare(left.element, right.element)
                return order == .equal ? left.offset < right.offset : order == .less
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.internalError, "\(error)")
        }
        values = []
        for (_, value) in sorted
        where values.last.map({ context.compare($0, value) != .equal }) ?? true {
            values.append(value)
        }
    }

    /// Whether an equal value exists, in O(log n).
    func contains(_ value: BSONValue) -> Bool { place(of: value).isKnown }

    private func place(of value: BSONValue) -> (index: Int, isKnown: Bool) {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            switch context.compare(values[middle], value) {
            case .less: low = middle + 1
            case .equal: return (middle, true)
            case .greater: high = middle
            }
        }
        return (low, false)
    }
}
