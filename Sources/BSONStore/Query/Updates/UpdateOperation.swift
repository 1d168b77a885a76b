/// An update operator with its operand.
enum UpdateOperation: Sendable {
    case set(BSONValue)
    case setOnInsert(BSONValue)
    case unset
    case increment(BSONValue)
    case multiply(BSONValue)
    case least(BSONValue)
    case greatest(BSONValue)
    case currentDate(asTimestamp: Bool)
    /// Sets the value that another path has in the document before the update.
    case rename(from: UpdatePath)
    /// Removes the value that a rename moves.
    case renameSource
    case push(Push)
    case addToSet([BSONValue])
    case pull(PullCondition)
    case pullAll([BSONValue])
    case pop(isFirst: Bool)
    case bit([BitStep])

    /// The operand of `$push`: the values, their position, the order and the size of the result.
    struct Push: Sendable {
        var values: [BSONValue]
        var position: Int?
        var slice: Int?
        var sort: ArraySort?
    }

    /// The elements that `$pull` removes.
    enum PullCondition: Sendable {
        /// Elements that pass, under the empty key, a filter of operators or a regular expression.
        case passing(Filter)
        /// Documents that match a filter.
        case documents(Filter)
        /// Elements that equal a value.
        case equal(BSONValue)
    }

    /// One step of `$bit`.
    struct BitStep: Sendable {
        enum Operator: String, Sendable {
            case and
            case or
            case xor
        }

        let `operator`: Operator
        let operand: BSONValue

        /// Returns the result of the step; `nil` for a value that is no integer.
        func apply(to value: BSONValue) -> BSONValue? {
            guard let left = BSONArithmetic.whole(value), let right = BSONArithmetic.whole(operand)
            else { return nil }
            let result =
                switch `operator` {
                case .and: left & right
                case .or: left | right
                case .xor: left ^ right
                }
            if case .int32 = value, case .int32 = operand {
                return .int32(Int32(truncatingIfNeeded: result))
            }
            return .int64(result)
        }
    }

    /// Whether the operator creates missing fields.
    var creates: Bool {
        switch self {
        case .set, .setOnInsert, .increment, .multiply, .least, .greatest, .currentDate, .rename,
            .push, .addToSet, .bit:
            true
        case .unset, .renameSource, .pull, .pullAll, .pop: false
        }
    }

    /// The number of levels of documents and arrays that the operator adds at its path.
    var depth: Int {
        switch self {
        case .set(let value), .setOnInsert(let value), .least(let value), .greatest(let value):
            UpdateLimits.depth(value)
        case .push(let push): 1 + (push.values.map { UpdateLimits.depth($0) }.max() ?? 0)
        case .addToSet(let values): 1 + (values.map { UpdateLimits.depth($0) }.max() ?? 0)
        case .unset, .increment, .multiply, .currentDate, .rename, .renameSource, .pull, .pullAll,
            .pop, .bit:
            0
        }
    }
}

/// The order in which `$push` sorts an array.
enum ArraySort: Sendable {
    /// By whole elements.
    case whole(isDescending: Bool)
    /// By fields of the elements; an element that is not a document has none.
    case fields([(path: String, isDescending: Bool)])

    /// Returns the values in this order; the sort is stable.
    func sorted(_ values: [BSONValue], _ collation: Collation?) -> [BSONValue] {
        let order: [Int]
        switch self {
        case .whole(let isDescending):
            order = Self.order(of: values.indices) { left, right in
                let order = collation.compare(values[left], values[right])
                return isDescending ? order.reversed : order
            }
        case .fields(let fields):
            let documents = values.map { $0.documentValue.map { IndexedDocument($0) } }
            order = Self.order(of: values.indices) { left, right in
                for field in fields {
                    if WorkBudget.isOver() { return .equal }
                    let order = collation.compare(
                        Self.value(field.path, of: documents[left]),
                        Self.value(field.path, of: documents[right]))
                    if order != .equal { return field.isDescending ? order.reversed : order }
                }
                return .equal
            }
        }
        return order.map { values[$0] }
    }

    private static func order(
        of places: Range<Int>, _ compare: (Int, Int) -> BSONOrder
    ) -> [Int] {
        places.sorted { left, right in
            if WorkBudget.isOver() { return false }
            let order = compare(left, right)
            return order == .equal ? left < right : order == .less
        }
    }

    private static func value(_ path: String, of element: IndexedDocument?) -> BSONValue {
        element?.value(atPath: path) ?? .null
    }
}

extension Collation? {
    /// Compares two values, by their bytes if there is no collation.
    func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        switch self {
        case .none: BSONOrder.compare(left, right)
        case .some(let collation): collation.compare(left, right)
        }
    }
}
