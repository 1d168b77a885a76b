/// A compiled regular expression over UTF-8.
///
/// The syntax is PCRE's. All states of the automaton advance together, in time linear in the text,
/// so that a pattern is hardly ever slow on any text. Only back references, look-behind, atomic
/// groups and possessive quantifiers need ``RegexBacktracker``, which is bounded. Recursion and
/// conditions in patterns are refused.
package struct CompiledRegex: Sendable {
    let expression: BSONRegularExpression
    private let search: Search

    /// The maximum number of bytes of a pattern, as in MongoDB.
    static let patternBytesMax = 16_384

    private enum Search: Sendable {
        /// The text begins with these bytes.
        case prefix([UInt8])
        /// The text contains some bytes.
        case literal(ByteSearch)
        case automaton(RegexAutomaton)
    }

    /// Compiles an expression with the options i, m, s, x and u.
    ///
    /// - Parameters:
    ///   - keepsGroups: whether ``match(in:from:_:)`` reports the places of groups.
    ///   - name: the operator with which an error about the options begins.
    /// - Throws: 51108 for another option, 51091 for an invalid, unsupported or too long pattern.
    package init(
        _ expression: BSONRegularExpression, keepsGroups: Bool = false, for name: String = ""
    ) throws(StoreError) {
        self.expression = expression
        let known = "imsxu".unicodeScalars
        for option in expression.options.unicodeScalars where !known.contains(option) {
            throw StoreError(
                .unknownRegularExpressionOption,
                "\(name) invalid flag in regex options: \(option)")
        }
        guard expression.pattern.utf8.count <= Self.patternBytesMax else {
            throw StoreError(
                .invalidRegularExpression,
                "Regular expression is invalid: pattern string is longer than the limit set by the "
                    + "application")
        }
        if keepsGroups {
            search = .automaton(try RegexParser.parse(expression, keepsGroups: true))
        } else if expression.options.isEmpty, let literal = Self.literal(expression.pattern) {
            search = literal
        } else {
            search = .automaton(try RegexParser.parse(expression))
        }
    }

    /// Whether the expression matches somewhere in the text.
    func isFound(in text: UnsafeRawBufferPointer) -> Bool {
        switch search {
        case .prefix(let bytes): Self.begins(text, with: bytes)
        case .literal(let bytes): bytes.first(in: text) != nil
        case .automaton(let automaton): automaton.isFound(in: text)
        }
    }

    /// Returns the first match from an offset on, which must be the start of a character.
    package func match(in text: UnsafeRawBufferPointer, from: Int) -> RegexMatch? {
        var memory = RegexSearchMemory()
        return match(in: text, from: from, &memory)
    }

    /// Returns the first match from an offset on, which must be the start of a character.
    ///
    /// It requires a pattern that keeps groups; alternatives are tried in PCRE's order.
    ///
    /// - Parameter memory: the memory of the searches of this text.
    package func match(
        in text: UnsafeRawBufferPointer, from: Int, _ memory: inout RegexSearchMemory
    ) -> RegexMatch? {
        guard case .automaton(let automaton) = search else {
            preconditionFailure("a pattern that keeps groups has an automaton")
        }
        return RegexBacktracker.match(automaton, in: text, from: from, &memory)
    }

    /// The number of groups; 0 if the expression does not keep them.
    var groupCount: Int {
        if case .automaton(let automaton) = search { automaton.groupCount } else { 0 }
    }

    /// Whether a regular expression value equals this one.
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
        return isAnchored ? .prefix(rest) : .literal(ByteSearch(for: rest))
    }

    private static func begins(_ text: UnsafeRawBufferPointer, with bytes: [UInt8]) -> Bool {
        guard text.count >= bytes.count else { return false }
        for index in bytes.indices where text[index] != bytes[index] { return false }
        return true
    }
}
