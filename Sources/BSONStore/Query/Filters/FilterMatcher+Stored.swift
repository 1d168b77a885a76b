// MARK: - Levels 1 and 2 of a stored document

extension FilterMatcher {
    /// Whether a stored document passes that was not validated since it was read.
    ///
    /// A shallow program (``FilterProgram/isShallow``) checks the bytes that it walks over:
    /// lengths, bounds and types, but not texts and documents that no test reads. Any bytes are
    /// safe to pass.
    ///
    /// - Throws: MongoDB's error if an `$expr` cannot be computed; the budget's error once it is
    ///   over.
    @inline(__always)
    func storedPasses(
        _ document: UnsafeRawBufferPointer, isShallow: Bool
    ) throws(StoreError) -> StoredMatchResult {
        if isShallow { return try shallowlyPasses(document) }
        guard BSONValidator.isValid(document) else { return .damaged }
        return try passes(document) ? .passes : .fails
    }

    /// Tests the document as `passesKeys` does, and checks the bounds of each element.
    private func shallowlyPasses(
        _ document: UnsafeRawBufferPointer
    ) throws(StoreError) -> StoredMatchResult {
        let range = nodes[0].groups
        guard let groups = groups.baseAddress.map({ $0 + Int(range.lowerBound) }),
            let keys = bytes.baseAddress, let base = document.baseAddress, document.count >= 5,
            BSONCursor.int32(base) == document.count
        else { return .damaged }
        let end = base + (document.count - 1)
        guard end.load(as: UInt8.self) == 0 else { return .damaged }
        var missing = Self.mask(ofGroups: range.count)
        var at = base + 4
        while missing != 0, at < end {
            let key = at + 1
            let keyCount = BSONCursor.textCount(key, end)
            let start = key + (keyCount + 1)
            guard start <= end else { return .damaged }
            let typeByte = at.load(as: UInt8.self)
            let size = Self.size(typeByte, start, end)
            guard size >= 0 else { return .damaged }
            at = start + size
            let keyFirst = key.load(as: UInt8.self)
            var candidates = missing
            while candidates != 0 {
                let bit = candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                let group = groups + bit
                guard group.pointee.keyCount == keyCount, group.pointee.keyFirst == keyFirst,
                    BSONCursor.isEqual(
                        UnsafeRawBufferPointer(start: key, count: keyCount),
                        UnsafeRawBufferPointer(
                            start: keys + group.pointee.keyStart, count: keyCount))
                else { continue }
                missing &= ~(1 << UInt64(bit))
                let value = BSONRawValue(typeByte: typeByte, start: start, count: size)
                if Self.isScalar(value) {
                    guard passesLeaves(group.pointee.leaves, value) else { return .fails }
                } else {
                    guard BSONValidator.isValid(document) else { return .damaged }
                    guard try containerPasses(value, group.pointee.leaves) else { return .fails }
                }
                break
            }
        }
        return passesMissingKeys(missing, groups) ? .passesUnchecked : .fails
    }

    /// Whether a valid value passes that may be an array, whose elements are tested one by one.
    ///
    /// - Throws: the budget's error if it is over: the walk over the elements may have ended early.
    @inline(never)
    private func containerPasses(
        _ value: BSONRawValue, _ leaves: Range<Int32>
    ) throws(StoreError) -> Bool {
        let isFound = passesLeaves(leaves, value)
        try WorkBudget.spend()
        return isFound
    }

    /// Whether a value can be tested by its own bytes, none of which is a length.
    @inline(__always)
    private static func isScalar(_ value: BSONRawValue) -> Bool {
        switch value.typeByte {
        case 0x01, 0x06...0x0A, 0x10...0x13, 0x7F, 0xFF: return true
        case 0x02:
            return value.count >= 5
                && value.start.load(fromByteOffset: value.count - 1, as: UInt8.self) == 0
        default: return false
        }
    }

    /// Returns the size of a value that ends before the document does; -1 if it does not.
    @inline(__always)
    private static func size(
        _ typeByte: UInt8, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
    ) -> Int {
        guard typeByte < 0x14, end - start >= 4 else { return sizeSlow(typeByte, start, end) }
        let size = Int(BSONCursor.sizes.utf8Start[Int(typeByte)])
        if size & 0x20 != 0 { return sizeSlow(typeByte, start, end) }
        let length = BSONCursor.int32(start) & (0 &- (size &>> 6))
        let whole = size & 0x1F &+ length
        return length >= 0 && whole <= end - start ? whole : -1
    }

    @inline(never)
    private static func sizeSlow(
        _ typeByte: UInt8, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
    ) -> Int {
        switch typeByte {
        case 0x06, 0x0A, 0x7F, 0xFF: return 0
        case 0x08: return end - start >= 1 ? 1 : -1
        case 0x0B:
            let pattern = BSONCursor.textCount(start, end) + 1
            guard pattern < end - start else { return -1 }
            let whole = pattern + BSONCursor.textCount(start + pattern, end) + 1
            return whole <= end - start ? whole : -1
        default: return -1
        }
    }
}

extension FilterProgram {
    /// Whether a match of unchecked bytes reads whole values of top-level keys only, so that it can
    /// check the bytes that it reads.
    var isShallow: Bool {
        guard let root = nodes.first, root.join == .all, root.children.isEmpty, !root.groups.isEmpty
        else { return false }
        return leaves.allSatisfy { $0.parts.count == 1 && $0.test.isScalar }
    }
}

extension FilterProgram.Test {
    /// Whether numbers, dates and texts are compared by their bytes alone.
    fileprivate var isScalar: Bool {
        switch self {
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .exists, .hasType, .hasSize:
            true
        case .isIn, .matches, .modulo, .hasDocument, .hasElement, .special: false
        }
    }
}

extension BSONValidator {
    /// Whether the bytes are exactly one document.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(BSONError) {
            try validate(bytes)
            return true
        } catch {
            return false
        }
    }
}
