/// An interpreter of a filter's program over the bytes of documents.
///
/// It holds pointers into the program, which ``lend(_:_:_:)`` keeps alive. It follows paths as
/// MongoDB does: it enters arrays in the middle, and numbers also name array positions.
///
/// A match goes down four levels, and each calls the next one:
///
/// 1. Nodes: ``documentPasses(_:node:)``, the entry, joins conditions by "and", "or" and "not".
/// 2. Keys: `passesKeys` walks over the document's top-level keys once, for all conditions of a
///    conjunction.
/// 3. Paths: `follow` walks from a key's value along the rest of one path, through documents and
///    arrays.
/// 4. Values: ``valuePasses(_:leaf:)`` tests one value, and ``missingPasses(leaf:)`` the lack of
///    one (`FilterMatcher+Values.swift`).
///
/// Stored documents that were not validated have an entry of their own,
/// ``storedPasses(_:isShallow:)``, which replaces the level of keys.
///
/// - Warning: When the thread's ``WorkBudget`` is over, loops end early and return `false`, which a
///   `not` above them turns into `true`. Such a result must not be used. `passes(_:)` and
///   `storedPasses(_:isShallow:)` throw the budget's error instead of returning a result; callers of
///   other functions call `WorkBudget.check()` or `WorkBudget.spend()` before they use the result.
struct FilterMatcher {
    let nodes: UnsafeBufferPointer<FilterProgram.Node>
    let children: UnsafeBufferPointer<Int32>
    let groups: UnsafeBufferPointer<FilterProgram.Group>
    let leaves: UnsafeBufferPointer<FilterProgram.Leaf>
    let parts: UnsafeBufferPointer<FilterProgram.Part>
    let constants: UnsafeBufferPointer<FilterProgram.Constant>
    let patterns: UnsafeBufferPointer<CompiledRegex>
    let bytes: UnsafeRawBufferPointer
    let context: UnsafeMutablePointer<FilterContext>?
}

// MARK: - Level 1: nodes

extension FilterMatcher {
    /// Whether a document passes a node.
    func documentPasses(_ document: UnsafeRawBufferPointer, node index: Int32) -> Bool {
        let node = nodes[Int(index)]
        switch node.join {
        case .all:
            guard node.groups.isEmpty || passesKeys(node.groups, document) else { return false }
            for child in node.children
            where !documentPasses(document, node: children[Int(child)]) {
                return false
            }
            return true
        case .any:
            for child in node.children {
                if WorkBudget.isOver() { return false }
                if documentPasses(document, node: children[Int(child)]) { return true }
            }
            return false
        case .not:
            return !documentPasses(document, node: children[Int(node.children.lowerBound)])
        case .special: return passesDocumentTest(node.special, document)
        }
    }

    /// Whether a single value passes a node, whose paths are empty.
    func valuePasses(_ value: BSONRawValue, node index: Int32) -> Bool {
        let node = nodes[Int(index)]
        switch node.join {
        case .all:
            for group in node.groups {
                for leafIndex in groups[Int(group)].leaves {
                    let leaf = pointer(toLeaf: leafIndex)
                    guard leaf.pointee.accepts(valuePasses(value, leaf: leaf)) else {
                        return false
                    }
                }
            }
            for child in node.children where !valuePasses(value, node: children[Int(child)]) {
                return false
            }
            return true
        case .any:
            for child in node.children {
                if WorkBudget.isOver() { return false }
                if valuePasses(value, node: children[Int(child)]) { return true }
            }
            return false
        case .not:
            return !valuePasses(value, node: children[Int(node.children.lowerBound)])
        case .special:
            // A test of a document does not apply to other values.
            return false
        }
    }
}

// MARK: - Level 2: keys

extension FilterMatcher {
    /// Whether all leaves of some groups pass: one walk over the document's top level.
    ///
    /// Each group's bit in `missing` is set until the walk has found its key. The walk ends once
    /// no bit is set; the leaves of the remaining groups test a missing value.
    private func passesKeys(_ range: Range<Int32>, _ document: UnsafeRawBufferPointer) -> Bool {
        // The buffers of arrays have an address, also those of empty ones.
        guard let first = groups.baseAddress.map({ $0 + Int(range.lowerBound) }),
            let keys = bytes.baseAddress
        else { return range.isEmpty }
        var missing = Self.mask(ofGroups: range.count)
        var cursor = BSONCursor(document)
        while missing != 0, let element = cursor.next() {
            let keyCount = element.key.count
            let keyFirst = keyCount == 0 ? 0 : element.key[0]
            var candidates = missing
            while candidates != 0 {
                // Takes the lowest bit that is set, and clears it.
                let bit = candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                let group = first + bit
                guard group.pointee.keyCount == keyCount, group.pointee.keyFirst == keyFirst,
                    BSONCursor.isEqual(
                        element.key,
                        UnsafeRawBufferPointer(
                            start: keys + group.pointee.keyStart, count: keyCount))
                else { continue }
                missing &= ~(1 << UInt64(bit))
                guard passesLeaves(group.pointee.leaves, element.value) else { return false }
                // The groups of a node have different keys.
                break
            }
        }
        return passesMissingKeys(missing, first)
    }

    /// Whether the value of a top-level key passes the leaves whose paths begin with it.
    func passesLeaves(_ range: Range<Int32>, _ value: BSONRawValue) -> Bool {
        for index in range {
            let leaf = pointer(toLeaf: index)
            let isMet = follow(leaf, from: leaf.pointee.parts.lowerBound + 1, value)
            guard leaf.pointee.accepts(isMet) else { return false }
        }
        return true
    }

    /// Whether the leaves of the groups with a bit in `missing` accept a missing value.
    @inline(__always)
    func passesMissingKeys(
        _ missing: UInt64, _ groups: UnsafePointer<FilterProgram.Group>
    ) -> Bool {
        var missing = missing
        while missing != 0 {
            // Takes the lowest bit that is set, and clears it.
            let bit = missing.trailingZeroBitCount
            missing &= missing &- 1
            for index in (groups + bit).pointee.leaves {
                let leaf = pointer(toLeaf: index)
                guard leaf.pointee.accepts(missingPasses(leaf: leaf)) else { return false }
            }
        }
        return true
    }

    /// Returns a mask with one bit for each group of a node; the compiler makes at most
    /// ``FilterProgram/groupsMax`` of them.
    @inline(__always)
    static func mask(ofGroups count: Int) -> UInt64 { (1 << UInt64(count)) &- 1 }

    /// Returns a leaf in place: it is too large to copy.
    @inline(__always)
    func pointer(toLeaf index: Int32) -> UnsafePointer<FilterProgram.Leaf> {
        guard let base = leaves.baseAddress else {
            preconditionFailure("a program with groups has leaves")
        }
        return base + Int(index)
    }
}

// MARK: - Level 3: paths

extension FilterMatcher {
    /// Follows the rest of a leaf's path, from a part on, starting at a value; returns whether a
    /// value at the end of it passes.
    private func follow(
        _ leaf: UnsafePointer<FilterProgram.Leaf>, from part: Int32, _ value: BSONRawValue
    ) -> Bool {
        let isArray = value.typeByte == BSONType.array.rawValue
        guard part < leaf.pointee.parts.upperBound else {
            guard isArray, leaf.pointee.entersArrays else { return valuePasses(value, leaf: leaf) }
            var cursor = BSONCursor(value)
            while let element = cursor.next() {
                if WorkBudget.isOver() { return false }
                if valuePasses(element.value, leaf: leaf) { return true }
            }
            return valuePasses(value, leaf: leaf)
        }
        if value.typeByte == BSONType.document.rawValue {
            return followInDocument(leaf, from: part, value.bytes)
        }
        return isArray ? followInArray(leaf, from: part, value) : missingPasses(leaf: leaf)
    }

    /// Follows a path from a document, whose field is named by the part; a missing field is tested
    /// as a missing value.
    private func followInDocument(
        _ leaf: UnsafePointer<FilterProgram.Leaf>, from part: Int32,
        _ document: UnsafeRawBufferPointer
    ) -> Bool {
        var cursor = BSONCursor(document)
        let key = parts[Int(part)].key
        while let element = cursor.next() {
            guard isKey(key, element.key) else { continue }
            return follow(leaf, from: part + 1, element.value)
        }
        return missingPasses(leaf: leaf)
    }

    /// Follows a path from an array in the middle of it.
    ///
    /// For the path `a.0.b`, the array in `a` is searched in two ways: each element that is a
    /// document for `0.b`, and the element at position 0 for `b`. If the position is the path's last
    /// part, the element is tested as a whole: the elements of an array in it are not.
    private func followInArray(
        _ leaf: UnsafePointer<FilterProgram.Leaf>, from part: Int32, _ array: BSONRawValue
    ) -> Bool {
        // -1 for a part that is no number.
        let wanted = parts[Int(part)].index
        let isLast = part + 1 == leaf.pointee.parts.upperBound
        var cursor = BSONCursor(array)
        var index: Int32 = 0
        while let element = cursor.next() {
            if WorkBudget.isOver() { return false }
            let value = element.value
            let isDocument = value.typeByte == BSONType.document.rawValue
            if isDocument, followInDocument(leaf, from: part, value.bytes) { return true }
            if index == wanted {
                if isLast {
                    if valuePasses(value, leaf: leaf) { return true }
                } else if isDocument {
                    if followInDocument(leaf, from: part + 1, value.bytes) { return true }
                } else if value.typeByte == BSONType.array.rawValue,
                    followInArray(leaf, from: part + 1, value)
                {
                    return true
                }
            }
            index += 1
        }
        return false
    }

    /// Whether a key is the one in a range of the program's bytes.
    @inline(__always)
    func isKey(_ wanted: Range<Int32>, _ key: UnsafeRawBufferPointer) -> Bool {
        guard wanted.count == key.count else { return false }
        let range = Int(wanted.lowerBound)..<Int(wanted.upperBound)
        return BSONCursor.isEqual(key, UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
}
