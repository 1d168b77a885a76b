/// Finds a regular expression in UTF-8 in time linear in the text.
///
/// The syntax is PCRE's without what needs backtracking: back references, look-behind, atomic groups
/// and possessive quantifiers are refused. All states of the automaton advance together, so no
/// pattern is slow on any text.
struct TextPattern: Sendable {
    let expression: BSONRegularExpression
    let search: Search

    enum Search: Sendable {
        /// The text holds these bytes, at its beginning when anchored.
        case literal([UInt8], isAnchored: Bool)
        case automaton(TextAutomaton)
    }

    /// Reads an expression with the options i, m, s, x and u.
    ///
    /// - Throws: 51108 for another option, 51091 for what is no pattern or not supported.
    init(_ expression: BSONRegularExpression) throws(StoreError) {
        self.expression = expression
        let known = "imsxu".unicodeScalars
        for option in expression.options.unicodeScalars where !known.contains(option) {
            throw StoreError(
                StoreError.Code(rawValue: 51108), "invalid flag in regex options: \(option)")
        }
        if expression.options.isEmpty, let literal = Self.literal(expression.pattern) {
            search = literal
        } else {
            search = .automaton(try TextPatternParser.parse(expression))
        }
    }

    /// Whether the expression matches somewhere in the text.
    func isFound(in text: UnsafeRawBufferPointer) -> Bool {
        switch search {
        case .literal(let bytes, isAnchored: true): Self.begins(text, at: 0, with: bytes)
        case .literal(let bytes, isAnchored: false): Self.holds(text, bytes)
        case .automaton(let automaton): automaton.isFound(in: text)
        }
    }

    /// Whether a regular expression value is this one.
    func isSame(as value: BSONRawValue) -> Bool {
        let (pattern, options) = value.expressionParts
        return expression.pattern.utf8.elementsEqual(pattern)
            && expression.options.utf8.elementsEqual(options)
    }

    private static func literal(_ pattern: String) -> Search? {
        let special = Set("\\^$.|?*+()[]{}".utf8)
        let isAnchored = pattern.utf8.first == UInt8(ascii: "^")
        let rest = Array(pattern.utf8.dropFirst(isAnchored ? 1 : 0))
        guard !rest.contains(where: { special.contains($0) }) else { return nil }
        return .literal(rest, isAnchored: isAnchored)
    }

    static func begins(
        _ text: UnsafeRawBufferPointer, at start: Int, with bytes: [UInt8]
    ) -> Bool {
        guard text.count - start >= bytes.count else { return false }
        for index in bytes.indices where text[start + index] != bytes[index] { return false }
        return true
    }

    private static func holds(_ text: UnsafeRawBufferPointer, _ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        guard text.count >= bytes.count else { return false }
        for start in 0...text.count - bytes.count
        where text[start] == first && begins(text, at: start, with: bytes) {
            return true
        }
        return false
    }
}
