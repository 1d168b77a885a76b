/// A parser for PCRE's syntax that writes the automaton's instructions.
///
/// Source: https://www.pcre.org/original/doc/html/pcrepattern.html
struct RegexParser {
    /// The maximum depth of groups.
    static let depthMax = 100

    let source: [UInt32]
    var position = 0
    var flags: Flags
    var automaton = RegexAutomaton()
    /// The number of groups so far.
    var groupCount = 0
    var groupNames: [Name: Int] = [:]
    /// The number of loops over patterns that may match the empty text.
    var loopCount = 0
    /// The greatest group number in a back reference.
    var greatestReference = 0
    /// Whether the places of groups are kept.
    let keepsGroups: Bool
    private var depth = 0

    /// The options that apply at a place of the pattern.
    struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotTakesLineEnds = false
        var isExtended = false
        /// Whether `\d`, `\w`, `\s`, `\b` and POSIX classes go by Unicode's properties.
        var isUnicode = false
    }

    /// A part of a pattern.
    indirect enum Node: Sendable {
        case nothing
        case take(RegexAutomaton.Instruction)
        case sequence([Node])
        case alternatives([Node])
        case repeated(Node, least: Int, most: Int?, isLazy: Bool)
        case look(Node, isNegated: Bool)
        case group(Node, Int)
        case backReference(Int, ignoresCase: Bool)
        /// Matches its first alternative only.
        case atomic(Node)
        /// Alternatives of fixed lengths that end here.
        case behind([Node], isNegated: Bool)
    }

    /// Parses an expression; `keepsGroups` writes the instructions that record where groups match.
    static func parse(
        _ expression: BSONRegularExpression, keepsGroups: Bool = false
    ) throws(StoreError) -> RegexAutomaton {
        let options = expression.options.unicodeScalars
        let flags = Flags(
            ignoresCase: options.contains("i"), isMultiline: options.contains("m"),
            dotTakesLineEnds: options.contains("s"), isExtended: options.contains("x"))
        let source = expression.pattern.unicodeScalars.map(\.value)
        var parser = RegexParser(source: source, flags: flags, keepsGroups: keepsGroups)
        let node = try parser.whole()
        if !keepsGroups, parser.greatestReference > 0 {
            // Back references need the groups, so such patterns are parsed again.
            parser = RegexParser(source: source, flags: flags, keepsGroups: true)
            try parser.finish(try parser.whole())
        } else {
            try parser.finish(node)
        }
        return parser.automaton
    }

    private mutating func whole() throws(StoreError) -> Node {
        while takesVerb() {}
        let node = try alternatives()
        guard position == source.count else { throw failure("unmatched closing parenthesis") }
        guard greatestReference <= groupCount else {
            throw failure("reference to non-existent subpattern")
        }
        return node
    }

    /// Reads a setting at the start of a pattern, if there is one.
    ///
    /// Line ends are newlines; verbs that would change that are errors.
    private mutating func takesVerb() -> Bool {
        if takes("(*UCP)") {
            flags.isUnicode = true
            return true
        }
        let others = [
            "(*UTF8)", "(*UTF)", "(*LF)", "(*BSR_UNICODE)", "(*NO_AUTO_POSSESS)",
            "(*NO_START_OPT)", "(*NO_JIT)",
        ]
        if others.contains(where: { takes($0) }) { return true }
        return takesLimit()
    }

    /// Reads a limit of the work of a match, such as `(*LIMIT_MATCH=100)`.
    ///
    /// The limit does not apply; a search has one of its own.
    private mutating func takesLimit() -> Bool {
        let start = position
        let names = ["(*LIMIT_MATCH=", "(*LIMIT_DEPTH=", "(*LIMIT_RECURSION=", "(*LIMIT_HEAP="]
        guard names.contains(where: { takes($0) }) else { return false }
        let digits = source[position...].prefix { (0x30...0x39).contains($0) }.count
        position += digits
        if digits > 0, takes(")") { return true }
        position = start
        return false
    }

    private mutating func finish(_ node: Node) throws(StoreError) {
        try emit(node)
        automaton.instructions.append(.match)
        automaton.groupCount = groupCount
        automaton.loopCount = loopCount
    }

    /// The number of open look-aheads and look-behinds.
    private(set) var lookDepth = 0

    private init(source: [UInt32], flags: Flags, keepsGroups: Bool) {
        self.source = source
        self.flags = flags
        self.keepsGroups = keepsGroups
    }

    func failure(_ reason: String) -> StoreError {
        StoreError(
            .invalidRegularExpression, "Regular expression is invalid: \(reason)")
    }

    func peek(_ ahead: Int = 0) -> UInt32? {
        position + ahead < source.count ? source[position + ahead] : nil
    }

    mutating func takes(_ text: String) -> Bool {
        let wanted = text.unicodeScalars.map(\.value)
        guard source[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    mutating func alternatives() throws(StoreError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw failure("parentheses are too deeply nested") }
        var branches = [try sequence()]
        while takes("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func sequence() throws(StoreError) -> Node {
        var nodes: [Node] = []
        while let next = peek(), next != 0x7C, next != 0x29 {
            if flags.isExtended, skipsSpace(next) { continue }
            let node = try piece()
            nodes.append(try quantified(node))
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func skipsSpace(_ next: UInt32) -> Bool {
        if next == 0x20 || (0x09...0x0D).contains(next) {
            position += 1
            return true
        }
        guard next == 0x23 else { return false }
        while let character = peek(), character != 0x0A {
            _ = character
            position += 1
        }
        return true
    }

    private mutating func piece() throws(StoreError) -> Node {
        guard let next = peek() else { return .nothing }
        position += 1
        switch next {
        case 0x28: return try group()
        case 0x5B: return try characterClass()
        case 0x2E: return .take(.any(withLineEnds: flags.dotTakesLineEnds))
        case 0x5E: return .take(.assert(flags.isMultiline ? .lineStart : .textStart))
        case 0x24: return .take(.assert(flags.isMultiline ? .lineEnd : .textEndOrLastLineEnd))
        case 0x5C: return try escape()
        case 0x2A, 0x2B, 0x3F: throw failure("quantifier does not follow a repeatable item")
        default: return character(next)
        }
    }

    mutating func character(_ value: UInt32) -> Node {
        let variants = flags.ignoresCase ? CaseVariants.of(value) : []
        guard !variants.isEmpty else { return .take(.character(value)) }
        var members = CharacterClass()
        members.ranges = ([value] + variants).map { $0...$0 }
        return member(of: members)
    }

    mutating func member(of members: CharacterClass) -> Node {
        automaton.classes.append(members)
        return .take(.member(of: Int32(automaton.classes.count - 1)))
    }

    private mutating func group() throws(StoreError) -> Node {
        let outer = flags
        if takes("?#") {
            while let next = peek(), next != 0x29 {
                _ = next
                position += 1
            }
            return try closed(.nothing, outer)
        }
        if takes("?=") { return try closed(.look(try looked(), isNegated: false), outer) }
        if takes("?!") { return try closed(.look(try looked(), isNegated: true), outer) }
        if takes("?<=") { return try behind(isNegated: false, outer) }
        if takes("?<!") { return try behind(isNegated: true, outer) }
        if takes("?>") { return try closed(.atomic(try alternatives()), outer) }
        if takes("?P=") {
            return try closed(try reference(named: try name(to: 0x29, keepsEnd: true)), outer)
        }
        if takes("?P<") || takes("?<") { return try captured(try name(to: 0x3E), outer) }
        if takes("?'") { return try captured(try name(to: 0x27), outer) }
        guard takes("?") else { return try captured(nil, outer) }
        let isGroup = try options()
        // Options without a group apply to the end of the enclosing group.
        guard isGroup else { return .nothing }
        return try closed(try alternatives(), outer)
    }

    private mutating func captured(_ name: String?, _ outer: Flags) throws(StoreError) -> Node {
        groupCount += 1
        let group = groupCount
        if let name {
            guard groupNames[name] == nil else {
                throw failure(
                    "two named subpatterns have the same name (PCRE2_DUPNAMES not set)")
            }
            groupNames[name] = group
        }
        return try closed(.group(try alternatives(), group), outer)
    }

    /// Reads the alternatives of a look-ahead or look-behind.
    private mutating func looked() throws(StoreError) -> Node {
        lookDepth += 1
        defer { lookDepth -= 1 }
        return try alternatives()
    }

    private mutating func behind(isNegated: Bool, _ outer: Flags) throws(StoreError) -> Node {
        let node = try looked()
        let branches = if case .alternatives(let branches) = node { branches } else { [node] }
        for branch in branches where Self.length(of: branch) == nil {
            throw failure("lookbehind assertion is not fixed length")
        }
        return try closed(.behind(branches, isNegated: isNegated), outer)
    }

    private mutating func closed(_ node: Node, _ outer: Flags) throws(StoreError) -> Node {
        guard takes(")") else { throw failure("missing closing parenthesis") }
        flags = outer
        return node
    }

    /// Reads a name up to its end.
    mutating func name(to end: UInt32, keepsEnd: Bool = false) throws(StoreError) -> String {
        var name = String.UnicodeScalarView()
        while let next = peek() {
            if next == end {
                if !keepsEnd { position += 1 }
                return String(name)
            }
            guard let scalar = Unicode.Scalar(next), CharacterClass.isWord(next) else { break }
            name.append(scalar)
            position += 1
        }
        throw failure("syntax error in subpattern name (missing terminator?)")
    }

    /// Reads option letters; `true` if a group follows them, `false` if they stand alone.
    private mutating func options() throws(StoreError) -> Bool {
        var isOn = true
        while let next = peek() {
            position += 1
            switch next {
            case 0x3A: return true
            case 0x29: return false
            case 0x2D: isOn = false
            case 0x69: flags.ignoresCase = isOn
            case 0x6D: flags.isMultiline = isOn
            case 0x73: flags.dotTakesLineEnds = isOn
            case 0x78: flags.isExtended = isOn
            default: throw failure("unrecognized character after (? or (?-")
            }
        }
        throw failure("missing closing parenthesis")
    }
}
