extension FilterMatching {
    /// Whether a value passes a leaf's test, the path left aside.
    func test(_ leaf: FilterProgram.Leaf, _ value: BSONRawValue) -> Bool {
        switch leaf.test {
        case .equal: return compare(leaf, value) == .equal
        case .less: return compare(leaf, value) == .less
        case .lessOrEqual:
            let order = compare(leaf, value)
            return order == .equal || order == .less
        case .greater: return compare(leaf, value) == .greater
        case .greaterOrEqual:
            let order = compare(leaf, value)
            return order == .equal || order == .greater
        case .isIn: return isMember(leaf, value)
        case .matches: return matchesPattern(leaf, value)
        case .exists: return true
        case .hasType: return leaf.types.contains(value.typeByte)
        case .hasSize: return isArray(value, ofSize: leaf.number)
        case .modulo:
            guard let whole = Self.truncated(value) else { return false }
            // The least number has no remainder by -1 that fits; it is 0.
            return leaf.number == -1
                ? leaf.remainder == 0 : whole % leaf.number == leaf.remainder
        case .hasDocument, .hasElement: return hasElement(leaf, value)
        }
    }

    /// Whether a missing value passes, as MongoDB treats it: like null, but not of any type.
    func testMissing(_ leaf: FilterProgram.Leaf) -> Bool {
        switch leaf.test {
        case .equal: return leaf.rank == Self.nullRank
        case .lessOrEqual: return leaf.rank == Self.nullRank || leaf.rank == Self.maxKeyRank
        case .greaterOrEqual: return leaf.rank == Self.nullRank || leaf.rank == Self.minKeyRank
        case .less: return leaf.rank == Self.maxKeyRank
        case .greater: return leaf.rank == Self.minKeyRank
        case .isIn:
            return leaf.number == 1
        case .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument, .hasElement:
            return false
        }
    }

    private static var nullRank: Int8 { 5 }
    private static var numberRank: Int8 { 10 }
    private static var undefinedRank: Int8 { 0 }
    private static var minKeyRank: Int8 { -1 }
    private static var maxKeyRank: Int8 { 127 }

    /// How a value stands to the leaf's constant; `nil` when their types do not compare.
    private func compare(_ leaf: FilterProgram.Leaf, _ value: BSONRawValue) -> BSONOrder? {
        let constant = self.constant(leaf.constants.lowerBound)
        if value.typeByte == constant.typeByte {
            switch value.typeByte {
            case BSONType.int32.rawValue: return BSONOrder(value.int32, constant.int32)
            case BSONType.int64.rawValue, BSONType.datetime.rawValue:
                return BSONOrder(value.int64, constant.int64)
            case BSONType.double.rawValue, BSONType.decimal128.rawValue:
                return compareNumbers(value, constant)
            default: return BSONOrder.compare(value, constant)
            }
        }
        let rank = BSONOrder.rank(value.type)
        if rank == leaf.rank {
            return rank == Self.numberRank
                ? compareNumbers(value, constant) : BSONOrder.compare(value, constant)
        }
        // Null and undefined are one for comparisons; the ends of the order compare with all.
        if rank == Self.undefinedRank, leaf.rank == Self.nullRank { return .equal }
        if leaf.rank == Self.maxKeyRank { return .less }
        if leaf.rank == Self.minKeyRank { return .greater }
        return nil
    }

    @inline(__always)
    func constant(_ index: Int32) -> BSONRawValue {
        let constant = constants[Int(index)]
        let start = Int(constant.bytes.lowerBound)
        guard let base = bytes.baseAddress else {
            preconditionFailure("a program with constants has bytes")
        }
        return BSONRawValue(
            typeByte: constant.typeByte, start: base + start, count: constant.bytes.count)
    }

    /// NaN is the least number in the order, but in a filter it compares with itself only.
    private func compareNumbers(_ value: BSONRawValue, _ constant: BSONRawValue) -> BSONOrder? {
        let order = BSONOrder.compare(value, constant)
        guard order == .equal || !(isNaN(value) || isNaN(constant)) else { return nil }
        return order
    }

    private func isNaN(_ value: BSONRawValue) -> Bool {
        switch value.typeByte {
        case BSONType.double.rawValue: value.double.isNaN
        case BSONType.decimal128.rawValue: value.decimal128.kind == .nan
        default: false
        }
    }

    private func isMember(_ leaf: FilterProgram.Leaf, _ value: BSONRawValue) -> Bool {
        var low = leaf.constants.lowerBound
        var high = leaf.constants.upperBound
        while low < high {
            let middle = (low + high) / 2
            switch BSONOrder.compare(constant(middle), value) {
            case .equal: return true
            case .less: low = middle + 1
            case .greater: high = middle
            }
        }
        return !leaf.patterns.isEmpty && matchesPattern(leaf, value)
    }

    private func matchesPattern(_ leaf: FilterProgram.Leaf, _ value: BSONRawValue) -> Bool {
        switch value.typeByte {
        case BSONType.string.rawValue, BSONType.symbol.rawValue:
            for index in leaf.patterns where patterns[Int(index)].isFound(in: value.text) {
                return true
            }
            return false
        case BSONType.regularExpression.rawValue:
            for index in leaf.patterns where patterns[Int(index)].isSame(as: value) {
                return true
            }
            return false
        default: return false
        }
    }

    private func isArray(_ value: BSONRawValue, ofSize size: Int64) -> Bool {
        guard value.typeByte == BSONType.array.rawValue else { return false }
        var cursor = BSONCursor(value)
        var count: Int64 = 0
        while count <= size, cursor.next() != nil { count += 1 }
        return count == size
    }

    private func hasElement(_ leaf: FilterProgram.Leaf, _ value: BSONRawValue) -> Bool {
        guard value.typeByte == BSONType.array.rawValue else { return false }
        var cursor = BSONCursor(value)
        while let element = cursor.next() {
            if leaf.test == .hasElement {
                if node(leaf.node, value: element.value) { return true }
            } else if element.value.typeByte == BSONType.document.rawValue
                || element.value.typeByte == BSONType.array.rawValue
            {
                if node(leaf.node, document: element.value.bytes) { return true }
            }
        }
        return false
    }

    private static func truncated(_ value: BSONRawValue) -> Int64? {
        switch value.typeByte {
        case BSONType.int32.rawValue: Int64(value.int32)
        case BSONType.int64.rawValue: value.int64
        case BSONType.double.rawValue: Int64(exactly: value.double.rounded(.towardZero))
        case BSONType.decimal128.rawValue: value.decimal128.truncated?.value
        default: nil
        }
    }
}
