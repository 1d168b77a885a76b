// MARK: - Level 4: values

extension FilterMatcher {
    /// Whether a value passes a leaf's test, without regard to the path.
    func valuePasses(
        _ value: BSONRawValue, leaf: UnsafePointer<FilterProgram.Leaf>
    ) -> Bool {
        switch leaf.pointee.test {
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
        case .hasType: return leaf.pointee.types.contains(value.typeByte)
        case .hasSize: return isArray(value, ofSize: leaf.pointee.number)
        case .modulo:
            guard let whole = Self.truncated(value) else { return false }
            // The remainder of the least number by -1 overflows; it is 0.
            return leaf.pointee.number == -1
                ? leaf.pointee.remainder == 0
                : whole % leaf.pointee.number == leaf.pointee.remainder
        case .hasDocument, .hasElement: return hasElement(leaf, value)
        case .special: return passesValueTest(leaf.pointee.node, value)
        }
    }

    /// Whether a missing value passes, as in MongoDB: like null, but of no type.
    func missingPasses(leaf: UnsafePointer<FilterProgram.Leaf>) -> Bool {
        switch leaf.pointee.test {
        case .equal: return leaf.pointee.rank == Self.nullRank
        case .lessOrEqual:
            return leaf.pointee.rank == Self.nullRank || leaf.pointee.rank == Self.maxKeyRank
        case .greaterOrEqual:
            return leaf.pointee.rank == Self.nullRank || leaf.pointee.rank == Self.minKeyRank
        case .less: return leaf.pointee.rank == Self.maxKeyRank
        case .greater: return leaf.pointee.rank == Self.minKeyRank
        case .isIn:
            return leaf.pointee.number == 1
        case .special: return passesValueTestOnMissing(leaf.pointee.node)
        case .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument, .hasElement:
            return false
        }
    }
}

// MARK: - Comparisons with a constant

extension FilterMatcher {
    /// Returns the order of a value and the leaf's constant; `nil` if their types do not compare.
    private func compare(_ leaf: UnsafePointer<FilterProgram.Leaf>, _ value: BSONRawValue)
        -> BSONOrder?
    {
        switch (value.typeByte, leaf.pointee.numberKind) {
        case (BSONType.int32.rawValue, .whole):
            return BSONOrder(Int64(value.int32), leaf.pointee.number)
        case (BSONType.int64.rawValue, .whole):
            return BSONOrder(value.int64, leaf.pointee.number)
        case (BSONType.double.rawValue, .double):
            let number = value.double
            // A NaN is neither less nor greater; only then the slow path must tell whether both are
            // NaN.
            if number == leaf.pointee.double { return .equal }
            if number < leaf.pointee.double { return .less }
            if number > leaf.pointee.double { return .greater }
        default: break
        }
        let constant = self.constant(leaf.pointee.constants.lowerBound)
        if value.typeByte == constant.typeByte {
            switch value.typeByte {
            case BSONType.string.rawValue where leaf.pointee.test == .equal:
                // Only equality matters here, and most texts differ in length.
                return value.count == constant.count
                    && BSONCursor.isEqual(value.bytes, constant.bytes) ? .equal : .less
            case BSONType.bool.rawValue:
                return BSONOrder(value.bool ? 1 : 0, constant.bool ? 1 : 0)
            case BSONType.datetime.rawValue: return BSONOrder(value.int64, constant.int64)
            default: break
            }
        }
        let rank = Self.rank(value.typeByte)
        if rank == leaf.pointee.rank {
            return rank == Self.numberRank
                ? compareNumbers(value, constant) : BSONOrder.compare(value, constant)
        }
        // Null and undefined are equal in comparisons; MinKey and MaxKey compare with all values.
        if rank == Self.undefinedRank, leaf.pointee.rank == Self.nullRank { return .equal }
        if leaf.pointee.rank == Self.maxKeyRank { return .less }
        if leaf.pointee.rank == Self.minKeyRank { return .greater }
        return nil
    }

    /// Compares numbers; a NaN is the least in the order, but in a filter it compares with NaN
    /// only.
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

    /// Returns a constant of the program.
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

    /// Returns the rank as ``BSONOrder/rank(_:)``, by the byte on the wire.
    private static func rank(_ typeByte: UInt8) -> Int8 {
        switch typeByte {
        case 0x01, 0x10, 0x12, 0x13: 10
        case 0x02, 0x0E: 15
        case 0x03: 20
        case 0x04: 25
        case 0x05: 30
        case 0x06: 0
        case 0x07: 35
        case 0x08: 40
        case 0x09: 45
        case 0x0A: 5
        case 0x0B: 50
        case 0x0C: 55
        case 0x0D: 60
        case 0x0F: 65
        case 0x11: 47
        case 0xFF: -1
        default: 127
        }
    }

    private static var nullRank: Int8 { 5 }
    private static var numberRank: Int8 { 10 }
    private static var undefinedRank: Int8 { 0 }
    private static var minKeyRank: Int8 { -1 }
    private static var maxKeyRank: Int8 { 127 }
}

// MARK: - Sets and patterns

extension FilterMatcher {
    /// Whether a value is in the leaf's sorted set of constants, or matches one of its patterns.
    private func isMember(_ leaf: UnsafePointer<FilterProgram.Leaf>, _ value: BSONRawValue) -> Bool
    {
        var low = leaf.pointee.constants.lowerBound
        var high = leaf.pointee.constants.upperBound
        while low < high {
            let middle = (low + high) / 2
            switch BSONOrder.compare(constant(middle), value) {
            case .equal: return true
            case .less: low = middle + 1
            case .greater: high = middle
            }
        }
        // Null matches a missing field and a stored undefined.
        if leaf.pointee.number == 1, value.typeByte == BSONType.undefined.rawValue { return true }
        return !leaf.pointee.patterns.isEmpty && matchesPattern(leaf, value)
    }

    /// Whether one of the leaf's patterns is found in a text, or is the same regular expression.
    private func matchesPattern(_ leaf: UnsafePointer<FilterProgram.Leaf>, _ value: BSONRawValue)
        -> Bool
    {
        switch value.typeByte {
        case BSONType.string.rawValue, BSONType.symbol.rawValue:
            for index in leaf.pointee.patterns {
                if WorkBudget.isOver() { return false }
                if patterns[Int(index)].isFound(in: value.text) { return true }
            }
            return false
        case BSONType.regularExpression.rawValue:
            for index in leaf.pointee.patterns where patterns[Int(index)].isSame(as: value) {
                return true
            }
            return false
        default: return false
        }
    }
}

// MARK: - Arrays and remainders

extension FilterMatcher {
    /// Whether a value is an array of a size (`$size`).
    private func isArray(_ value: BSONRawValue, ofSize size: Int64) -> Bool {
        guard value.typeByte == BSONType.array.rawValue else { return false }
        var cursor = BSONCursor(value)
        var count: Int64 = 0
        while count <= size, cursor.next() != nil { count += 1 }
        return count == size
    }

    /// Whether an array has an element that passes the leaf's node (`$elemMatch`).
    private func hasElement(_ leaf: UnsafePointer<FilterProgram.Leaf>, _ value: BSONRawValue)
        -> Bool
    {
        guard value.typeByte == BSONType.array.rawValue else { return false }
        var cursor = BSONCursor(value)
        while let element = cursor.next() {
            if WorkBudget.isOver() { return false }
            if leaf.pointee.test == .hasElement {
                if valuePasses(element.value, node: leaf.pointee.node) { return true }
            } else if element.value.typeByte == BSONType.document.rawValue
                || element.value.typeByte == BSONType.array.rawValue
            {
                if documentPasses(element.value.bytes, node: leaf.pointee.node) {
                    return true
                }
            }
        }
        return false
    }

    /// Returns a number without its fraction (`$mod`); `nil` for other values and large numbers.
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
