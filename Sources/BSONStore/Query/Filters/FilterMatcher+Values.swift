// MARK: - Tests of one value

extension FilterMatcher {
    /// Whether a value passes a condition's test, wherever the path found it.
    func passes(_ value: BSONRawValue, _ condition: ConditionView) -> Bool {
        switch condition.test {
        case .equal: return compare(value, condition) == .equal
        case .less: return compare(value, condition) == .less
        case .lessOrEqual:
            let order = compare(value, condition)
            return order == .equal || order == .less
        case .greater: return compare(value, condition) == .greater
        case .greaterOrEqual:
            let order = compare(value, condition)
            return order == .equal || order == .greater
        case .isIn: return isMember(value, condition)
        case .matches: return matchesPattern(value, condition)
        case .exists: return true
        case .hasType: return condition.types.contains(value.typeByte)
        case .hasSize: return isArray(value, ofSize: condition.number)
        case .modulo:
            guard let whole = value.truncatedNumber else { return false }
            // The remainder of the least number by -1 overflows; it is 0.
            return condition.number == -1
                ? condition.remainder == 0 : whole % condition.number == condition.remainder
        case .hasDocument, .hasElement: return hasElement(value, condition)
        case .computed: return computed.valuePasses(condition.reference, value)
        }
    }

    /// Whether the lack of a value passes a condition's test; as in MongoDB, it counts as null, but
    /// has no type.
    func missingPasses(_ condition: ConditionView) -> Bool {
        let (null, least, greatest) = (
            BSONRawValue.nullRank, BSONRawValue.minKeyRank, BSONRawValue.maxKeyRank
        )
        return switch condition.test {
        case .equal: condition.rank == null
        case .less: condition.rank == greatest
        case .lessOrEqual: condition.rank == null || condition.rank == greatest
        case .greater: condition.rank == least
        case .greaterOrEqual: condition.rank == null || condition.rank == least
        case .isIn: condition.number == 1
        case .computed: computed.missingPasses(condition.reference)
        case .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument, .hasElement: false
        }
    }
}

// MARK: - Comparisons with a constant

extension FilterMatcher {
    /// Returns the order of a value and the condition's constant; `nil` if their types do not compare.
    private func compare(_ value: BSONRawValue, _ condition: ConditionView) -> BSONOrder? {
        switch (value.typeByte, condition.numberKind) {
        case (BSONType.int32.rawValue, .whole):
            return BSONOrder(Int64(value.int32), condition.number)
        case (BSONType.int64.rawValue, .whole):
            return BSONOrder(value.int64, condition.number)
        case (BSONType.double.rawValue, .double):
            let number = value.double
            if number == condition.double { return .equal }
            if number < condition.double { return .less }
            if number > condition.double { return .greater }
        // One of them is not a number.
        default: break
        }
        let constant = filter.constant(condition.constants.lowerBound)
        if value.typeByte == constant.typeByte {
            switch value.typeByte {
            case BSONType.string.rawValue where condition.test == .equal:
                // Only equality matters here, and most texts differ in length.
                return value.count == constant.count
                    && BSONCursor.isEqual(value.bytes, constant.bytes) ? .equal : .less
            case BSONType.bool.rawValue:
                return BSONOrder(value.bool ? 1 : 0, constant.bool ? 1 : 0)
            case BSONType.datetime.rawValue: return BSONOrder(value.int64, constant.int64)
            default: break
            }
        }
        return compareByRank(value, constant, condition)
    }

    /// Compares by the order of types: numbers compare with numbers, texts with texts.
    @inline(__always)
    private func compareByRank(
        _ value: BSONRawValue, _ constant: BSONRawValue, _ condition: ConditionView
    ) -> BSONOrder? {
        let rank = value.rank
        if rank == condition.rank {
            return rank == BSONRawValue.numberRank
                ? compareNumbers(value, constant) : BSONOrder.compare(value, constant)
        }
        // MinKey and MaxKey compare with all values.
        if condition.rank == BSONRawValue.maxKeyRank { return .less }
        if condition.rank == BSONRawValue.minKeyRank { return .greater }
        return nil
    }

    /// Compares numbers; a NaN is the least in the order, but in a filter it compares with NaN
    /// only.
    private func compareNumbers(_ value: BSONRawValue, _ constant: BSONRawValue) -> BSONOrder? {
        let order = BSONOrder.compare(value, constant)
        guard order == .equal || !(value.isNaN || constant.isNaN) else { return nil }
        return order
    }
}

// MARK: - Sets, patterns and sizes

extension FilterMatcher {
    /// Whether a value is among the condition's sorted constants, or matches one of its patterns.
    private func isMember(_ value: BSONRawValue, _ condition: ConditionView) -> Bool {
        var low = condition.constants.lowerBound
        var high = condition.constants.upperBound
        while low < high {
            let middle = (low + high) / 2
            switch BSONOrder.compare(filter.constant(middle), value) {
            case .equal: return true
            case .less: low = middle + 1
            case .greater: high = middle
            }
        }
        return !condition.patterns.isEmpty && matchesPattern(value, condition)
    }

    /// Whether a text matches one of the condition's regular expressions, or the value is one of them.
    private func matchesPattern(_ value: BSONRawValue, _ condition: ConditionView) -> Bool {
        switch value.typeByte {
        case BSONType.string.rawValue, BSONType.symbol.rawValue:
            for pattern in filter.patterns(of: condition) {
                if WorkBudget.isOver() { return false }
                if pattern.isFound(in: value.text) { return true }
            }
            return false
        case BSONType.regularExpression.rawValue:
            for pattern in filter.patterns(of: condition) where pattern.isSame(as: value) {
                return true
            }
            return false
        default: return false
        }
    }

    /// Whether a value is an array of a size (`$size`).
    private func isArray(_ value: BSONRawValue, ofSize size: Int64) -> Bool {
        guard value.isArray else { return false }
        var elements = value.document.elements
        var count: Int64 = 0
        while count <= size, elements.next() != nil { count += 1 }
        return count == size
    }
}
