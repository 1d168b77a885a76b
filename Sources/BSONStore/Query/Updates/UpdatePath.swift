/// The path of an operator: keys, array positions and positional placeholders.
struct UpdatePath: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of parts in a path.
    static let partsMax = 200

    /// The parts as they are written, for example `$[name]`.
    let parts: [String]

    /// Whether both paths have the same names, by their bytes.
    static func == (left: UpdatePath, right: UpdatePath) -> Bool {
        left.parts.hasSameBytes(as: right.parts)
    }

    /// Parses a dotted path.
    ///
    /// - Throws: `emptyFieldName` (56), and `badValue` for a misplaced placeholder.
    init(_ text: String) throws(StoreError) {
        guard !text.isEmpty else {
            throw StoreError(.emptyFieldName, "An empty update path is not valid.")
        }
        let isNested = text.utf8.contains(UInt8(ascii: "."))
        parts = text.dottedParts
        guard !isNested || !parts.contains(where: \.isEmpty) else {
            throw StoreError(
                .emptyFieldName,
                "The update path '\(text)' contains an empty field name, which is not allowed.")
        }
        guard parts.count <= Self.partsMax else { throw UpdateLimits.tooDeep }
        try checkPlaceholders()
    }

    var description: String { parts.joined(separator: ".") }

    /// Returns the first parts, joined by dots.
    func prefix(_ count: Int) -> String { parts.prefix(count).joined(separator: ".") }

    /// Whether a `$` stands for the element that the filter matched.
    var isPositional: Bool { parts.contains { $0 == "$" } }

    /// Whether any part is a placeholder.
    var isDynamic: Bool {
        parts.contains { $0 == "$" || Self.filterName($0) != nil }
    }

    /// Whether one path leads through the other.
    func isPrefix(of other: UpdatePath) -> Bool {
        parts.count < other.parts.count
            && other.parts.starts(with: parts) { $0.hasSameBytes(as: $1) }
    }

    /// Returns the name in `$[name]`, empty in `$[]`, `nil` for other parts.
    static func filterName(_ part: String) -> String? {
        guard part.utf8.count >= 3, part.hasBytePrefix("$["), part.hasByteSuffix("]") else {
            return nil
        }
        return part.droppingBytes(2).droppingLastBytes(1)
    }

    /// Returns the array position of a part that has only digits.
    ///
    /// A number that does not fit stands for a position behind the end of every array.
    static func index(_ part: String) -> Int? {
        guard !part.isEmpty else { return nil }
        var index = 0
        for byte in part.utf8 {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            index = min(index * 10 + Int(byte - UInt8(ascii: "0")), Int(Int32.max))
        }
        return index
    }

    /// Whether MongoDB changes the left field first: names sort as texts, positions as numbers.
    static func isBefore(_ left: String, _ right: String) -> Bool {
        if index(left) != nil, index(right) != nil, left.utf8.count != right.utf8.count {
            return left.utf8.count < right.utf8.count
        }
        return left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private func checkPlaceholders() throws(StoreError) {
        guard parts.count(where: { $0 == "$" }) <= 1 else {
            throw StoreError(
                .badValue, "Too many positional (i.e. '$') elements found in path '\(self)'")
        }
        guard parts[0] != "$" else {
            throw StoreError(
                .badValue,
                "Cannot have positional (i.e. '$') element in the first position in path '\(self)'")
        }
    }
}

/// The bounds on the results of updates, with MongoDB's errors.
enum UpdateLimits {
    /// The maximum depth of documents and arrays, counting the document itself.
    static let depthMax = BSONLimits().depthMax
    /// The maximum number of nulls by which an array grows at once.
    static let paddingMax = 1_500_000
    /// The maximum size of a document in bytes.
    static let bytesMax = BSONLimits().documentBytesMax
    /// The maximum size of a document with its command in bytes.
    static let commandBytesMax = bytesMax + 16 * 1024

    /// Returns the error for a document that would be nested too deeply.
    static var tooDeep: StoreError {
        StoreError(
            .overflow, "Document exceeds maximum nesting depth of \(depthMax)")
    }

    /// Returns the error for a document that exceeds even the size of a command.
    static func tooLarge(_ count: Int) -> StoreError {
        let hex = String(count, radix: 16, uppercase: true)
        return StoreError(
            .documentTooLarge,
            "BSONObj size: \(count) (0x\(hex)) is invalid. Size must be between 0 and "
                + "\(commandBytesMax)(16MB)")
    }

    /// Returns the depth of documents and arrays in a value, 0 for others.
    static func depth(_ value: BSONValue) -> Int {
        switch value {
        case .document(let document): document.withCursor { 1 + depth(&$0) }
        case .array(let array): array.document.withCursor { 1 + depth(&$0) }
        default: 0
        }
    }

    private static func depth(_ cursor: inout BSONCursor) -> Int {
        var deepest = 0
        while let element = cursor.next() {
            _ = WorkBudget.isOver()
            guard element.value.type == .document || element.value.type == .array else { continue }
            var inner = BSONCursor(element.value)
            deepest = max(deepest, 1 + depth(&inner))
        }
        return deepest
    }
}
