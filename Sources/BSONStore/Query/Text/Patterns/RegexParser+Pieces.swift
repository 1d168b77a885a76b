extension RegexParser {
    /// Reads a quantifier behind a piece, if there is one.
    mutating func quantified(_ node: Node) throws(StoreError) -> Node {
        guard let (least, most) = try bounds() else { return node }
        let isPossessive = takes("+")
        let isLazy = !isPossessive && takes("?")
        let start = position
        if try bounds() != nil {
            position = start
            throw failure("quantifier does not follow a repeatable item")
        }
        let repeated = Node.repeated(node, least: least, most: most, isLazy: isLazy)
        return isPossessive ? .atomic(repeated) : repeated
    }

    private mutating func bounds() throws(StoreError) -> (Int, Int?)? {
        if takes("*") { return (0, nil) }
        if takes("+") { return (1, nil) }
        if takes("?") { return (0, 1) }
        guard peek() == 0x7B else { return nil }
        let start = position
        position += 1
        let least = number()
        var most = least
        if takes(",") { most = number() }
        let hasComma = position > start + 1 && source[position - 1] == 0x2C
        guard let least, takes("}") else {
            position = start
            // Not a quantifier: a literal brace.
            return nil
        }
        guard least <= 65_535, (most ?? 0) <= 65_535 else {
            throw failure("number too big in {} quantifier")
        }
        if let most, most < least { throw failure("numbers out of order in {} quantifier") }
        return (least, hasComma ? nil : most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let next = peek(), (0x30...0x39).contains(next), value ?? 0 < 1_000_000 {
            value = (value ?? 0) * 10 + Int(next - 0x30)
            position += 1
        }
        return value
    }

    /// Reads an escape outside of a class.
    mutating func escape() throws(StoreError) -> Node {
        guard let next = peek() else { throw failure("\\ at end of pattern") }
        switch next {
        case 0x62: return assertion(flags.isUnicode ? .unicodeWordBoundary : .wordBoundary)
        case 0x42: return assertion(flags.isUnicode ? .noUnicodeWordBoundary : .noWordBoundary)
        case 0x4B:
            // It would move the start before the place where the search began.
            guard lookDepth == 0 else {
                throw failure("\\K is not allowed in lookarounds")
            }
            position += 1
            return .take(.save(0))
        case 0x41: return assertion(.textStart)
        case 0x7A: return assertion(.textEnd)
        case 0x5A: return assertion(.textEndOrLastLineEnd)
        case 0x51:
            position += 1
            return quoted()
        case 0x52:
            position += 1
            return Self.lineEnd
        case 0x4E:
            position += 1
            return .take(.any(withLineEnds: false))
        case 0x31...0x39, 0x67, 0x6B: return try backReference()
        default: break
        }
        if let part = try classPart() {
            var members = CharacterClass()
            members.parts = [part]
            return member(of: members)
        }
        return character(try escapedCharacter())
    }

    /// `\R`: any line end.
    private static var lineEnd: Node {
        .alternatives([
            .sequence([.take(.character(0x0D)), .take(.character(0x0A))]),
            .take(.character(0x0A)), .take(.character(0x0B)), .take(.character(0x0C)),
            .take(.character(0x0D)), .take(.character(0x85)), .take(.character(0x2028)),
            .take(.character(0x2029)),
        ])
    }

    private mutating func assertion(_ assertion: RegexAutomaton.Assertion) -> Node {
        position += 1
        return .take(.assert(assertion))
    }

    private mutating func quoted() -> Node {
        var nodes: [Node] = []
        while let next = peek(), !takes("\\E") {
            position += 1
            nodes.append(character(next))
        }
        return .sequence(nodes)
    }

    /// Reads a named set such as `\d` or `\p{Lu}` at the position behind the backslash.
    private mutating func classPart() throws(StoreError) -> CharacterClass.Part? {
        guard let next = peek() else { return nil }
        let isUpper = next < 0x60
        switch next {
        case 0x64, 0x44:
            position += 1
            return CharacterClass.Part(
                kind: flags.isUnicode ? .category("Nd") : .digit, isNegated: isUpper)
        case 0x77, 0x57:
            position += 1
            return CharacterClass.Part(
                kind: flags.isUnicode ? .category("Xwd") : .word, isNegated: isUpper)
        case 0x73, 0x53:
            position += 1
            return CharacterClass.Part(
                kind: flags.isUnicode ? .category("Xsp") : .space, isNegated: isUpper)
        case 0x68, 0x48:
            position += 1
            return CharacterClass.Part(kind: .horizontalSpace, isNegated: isUpper)
        case 0x76, 0x56:
            position += 1
            return CharacterClass.Part(kind: .verticalSpace, isNegated: isUpper)
        case 0x70, 0x50:
            position += 1
            return try property(isNegated: isUpper)
        default: return nil
        }
    }

    /// Reads the name of a property: a general category or a script.
    private mutating func property(isNegated: Bool) throws(StoreError) -> CharacterClass.Part {
        guard let first = peek(), let scalar = Unicode.Scalar(first) else {
            throw failure("malformed \\P or \\p sequence")
        }
        position += 1
        var name = ""
        var isNegated = isNegated
        if first == 0x7B {
            if takes("^") { isNegated.toggle() }
            name = try propertyName()
        } else {
            name.unicodeScalars.append(scalar)
        }
        if let ranges = RegexScripts.ranges[Name(name)] {
            return CharacterClass.Part(kind: .ranges(ranges), isNegated: isNegated)
        }
        guard CharacterClass.Part.categories.contains(Name(name)) else {
            throw failure("unknown property name after \\P or \\p")
        }
        return CharacterClass.Part(kind: .category(name), isNegated: isNegated)
    }

    private mutating func propertyName() throws(StoreError) -> String {
        var name = ""
        while let next = peek(), next != 0x7D, let scalar = Unicode.Scalar(next) {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard takes("}") else { throw failure("malformed \\P or \\p sequence") }
        return name
    }

    /// Reads one character behind a backslash.
    private mutating func escapedCharacter() throws(StoreError) -> UInt32 {
        guard let next = peek() else { throw failure("\\ at end of pattern") }
        position += 1
        switch next {
        case 0x6E: return 0x0A
        case 0x72: return 0x0D
        case 0x74: return 0x09
        case 0x66: return 0x0C
        case 0x65: return 0x1B
        case 0x61: return 0x07
        case 0x30: return octal()
        case 0x63: return try control()
        case 0x78: return try hexadecimal()
        case 0x31...0x39, 0x41...0x5A, 0x61...0x7A:
            throw failure("unrecognized character follows \\")
        default: return next
        }
    }

    private mutating func control() throws(StoreError) -> UInt32 {
        guard let next = peek(), (0x20...0x7E).contains(next) else {
            throw failure("\\c at end of pattern")
        }
        position += 1
        return ((0x61...0x7A).contains(next) ? next - 0x20 : next) ^ 0x40
    }

    private mutating func octal() -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<2 {
            guard let next = peek(), (0x30...0x37).contains(next) else { break }
            value = value * 8 + next - 0x30
            position += 1
        }
        return value
    }

    private mutating func hexadecimal() throws(StoreError) -> UInt32 {
        let isBraced = takes("{")
        var value: UInt32 = 0
        var digits = 0
        while digits < (isBraced ? 6 : 2), let next = peek(), let scalar = Unicode.Scalar(next),
            let digit = Character(scalar).hexDigitValue, next < 0x80
        {
            value = value * 16 + UInt32(digit)
            digits += 1
            position += 1
        }
        guard !isBraced || takes("}"), value <= 0x10FFFF else {
            throw failure("character value in \\x{} or \\o{} is too large")
        }
        return value
    }

    /// Reads a class behind its opening bracket.
    mutating func characterClass() throws(StoreError) -> Node {
        var members = CharacterClass()
        members.ignoresCase = flags.ignoresCase
        members.isNegated = takes("^")
        var isFirst = true
        while let next = peek(), isFirst || next != 0x5D {
            isFirst = false
            if takes("[:") {
                try insertPOSIX(into: &members)
                continue
            }
            position += 1
            guard let low = try classMember(next, &members) else { continue }
            guard peek() == 0x2D, let after = peek(1), after != 0x5D else {
                members.ranges.append(low...low)
                continue
            }
            position += 2
            guard let high = try classMember(after, &members) else {
                members.ranges += [low...low, 0x2D...0x2D]
                continue
            }
            guard low <= high else { throw failure("range out of order in character class") }
            members.ranges.append(low...high)
        }
        guard takes("]") else { throw failure("missing terminating ] for character class") }
        return member(of: members)
    }

    /// Reads one character of a class; returns `nil` if a named set was inserted.
    private mutating func classMember(
        _ next: UInt32, _ members: inout CharacterClass
    ) throws(StoreError) -> UInt32? {
        guard next == 0x5C else { return next }
        if peek() == 0x62 {
            position += 1
            return 0x08
        }
        if let part = try classPart() {
            members.parts.append(part)
            return nil
        }
        return try escapedCharacter()
    }

    private mutating func insertPOSIX(
        into members: inout CharacterClass
    ) throws(StoreError) {
        let isNegated = takes("^")
        for (name, category) in Self.unicodeSets where flags.isUnicode && takes(name + ":]") {
            members.parts.append(
                CharacterClass.Part(kind: .category(category), isNegated: isNegated))
            return
        }
        for (name, ranges) in Self.sets where takes(name + ":]") {
            if isNegated {
                members.parts.append(
                    CharacterClass.Part(kind: .ranges(ranges), isNegated: true))
            } else {
                members.ranges += ranges
            }
            return
        }
        throw failure("unknown POSIX class name")
    }

    /// The POSIX classes as categories, after `(*UCP)`.
    private static let unicodeSets = [
        ("alpha", "L"), ("digit", "Nd"), ("alnum", "Xan"), ("upper", "Lu"), ("lower", "Ll"),
        ("space", "Xsp"), ("word", "Xwd"),
    ]
    private static let sets: [(String, [ClosedRange<UInt32>])] = [
        ("alpha", [0x41...0x5A, 0x61...0x7A]), ("digit", [0x30...0x39]),
        ("alnum", [0x30...0x39, 0x41...0x5A, 0x61...0x7A]), ("upper", [0x41...0x5A]),
        ("lower", [0x61...0x7A]), ("space", [0x09...0x0D, 0x20...0x20]),
        ("punct", [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]),
        ("xdigit", [0x30...0x39, 0x41...0x46, 0x61...0x66]),
        ("word", [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]),
        ("blank", [0x09...0x09, 0x20...0x20]), ("cntrl", [0x00...0x1F, 0x7F...0x7F]),
        ("graph", [0x21...0x7E]), ("print", [0x20...0x7E]), ("ascii", [0x00...0x7F]),
    ]
}
