/// What an operator does with the value at its path.
enum UpdateOperation: Sendable {
    case set(BSONValue)
    case setOnInsert(BSONValue)
    case unset
    case increment(BSONValue)
    case multiply(BSONValue)
    case least(BSONValue)
    case greatest(BSONValue)
    case currentDate(asTimestamp: Bool)
    /// Takes the value that another path has in the document before the update.
    case rename(from: UpdatePath)
    /// Removes what a rename takes elsewhere.
    case renameSource
    case push(Push)
    case addToSet([BSONValue])
    case pull(PullCondition)
    case pullAll([BSONValue])
    case pop(isFirst: Bool)
    case bit([BitStep])

    /// What `$push` appends, where, and what it keeps.
    struct Push: Sendable {
        var values: [BSONValue]
        var position: Int?
        var slice: Int?
        var sort: ArraySort?
    }

    /// Which elements `$pull` removes.
    enum PullCondition: Sendable {
        /// Those that pass, under the empty key, a filter of operators or a regular expression.
        case passing(Filter)
        /// Documents that match a filter.
        case documents(Filter)
        /// Those that equal a value.
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

    /// Whether it makes fields that are missing.
    var creates: Bool {
        switch self {
        case .set, .setOnInsert, .increment, .multiply, .least, .greatest, .currentDate, .rename,
            .push, .addToSet, .bit:
            true
        case .unset, .renameSource, .pull, .pullAll, .pop: false
        }
    }

    /// How many levels of documents and arrays the operator puts at its path.
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

/// The order that `$push` brings an array into.
enum ArraySort: Sendable {
    /// By the elements as they are.
    case whole(isDescending: Bool)
    /// By fields of the elements; an element that is no document has none.
    case fields([(path: String, isDescending: Bool)])

    /// The values in this order; equal ones keep their places.
    func sorted(_ values: [BSONValue], _ collation: Collation?) -> [BSONValue] {
        let order = values.indices.sorted { left, right in
            if WorkBudget.isOver() { return false }
            let order = compare(values[left], values[right], collation)
            return order == .equal ? left < right : order == .less
        }
        return order.map { values[$0] }
    }

    private func compare(
        _ left: BSONValue, _ right: BSONValue, _ collation: Collation?
    ) -> BSONOrder {
        switch self {
        case .whole(let isDescending):
            let order = collation.compare(left, right)
            return isDescending ? order.reversed : order
        case .fields(let fields):
            for field in fields {
                let order = collation.compare(
                    Self.value(field.path, of: left), Self.value(field.path, of: right))
                if order != .equal { return field.isDescending ? order.reversed : order }
            }
            return .equal
        }
    }

    private static func value(_ path: String, of element: BSONValue) -> BSONValue {
        element.documentValue?[path: path] ?? .null
    }
}

extension Collation? {
    /// Compares two values, by their bytes where there is no collation.
    func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        switch self {
        case .none: BSONOrder.compare(left, right)
        case .some(let collation): collation.compare(left, right)
        }
    }
}
