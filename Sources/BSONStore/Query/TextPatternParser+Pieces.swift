extension TextPatternParser {
    /// Reads a quantifier behind a piece, when there is one.
    mutating func quantified(_ node: Node) throws(StoreError) -> Node {
        guard let (least, most) = try bounds() else { return node }
        if takes("+") { throw failure("possessive quantifiers are not supported") }
        let isLazy = takes("?")
        if let (_, _) = try bounds() {
            throw failure("quantifier does not follow a repeatable item")
        }
        return .repeated(node, least: least, most: most, isLazy: isLazy)
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
            // Not a quantifier: a brace that stands for itself.
            return nil
        }
        guard least <= 1_000, (most ?? 0) <= 1_000 else {
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

    /// Reads what follows a backslash outside of a class.
    mutating func escape() throws(StoreError) -> Node {
        guard let next = peek() else { throw failure("\\ at end of pattern") }
        switch next {
        case 0x62: return assertion(.wordBoundary)
        case 0x42: return assertion(.noWordBoundary)
        case 0x41: return assertion(.textStart)
        case 0x7A: return assertion(.textEnd)
        case 0x5A: return assertion(.textEndOrLastLineEnd)
        case 0x51:
            position += 1
            return quoted()
        case 0x31...0x39: throw failure("back references are not supported")
        default: break
        }
        if let part = try classPart() {
            var members = CharacterClass()
            members.parts = [part]
            return member(of: members)
        }
        return character(try escapedCharacter())
    }

    private mutating func assertion(_ assertion: TextAutomaton.Assertion) -> Node {
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

    /// A named set such as `\d` or `\p{Lu}` at the position behind the backslash.
    private mutating func classPart() throws(StoreError) -> CharacterClass.Part? {
        guard let next = peek() else { return nil }
        let isUpper = next < 0x60
        switch next {
        case 0x64, 0x44:
            position += 1
            return CharacterClass.Part(kind: .digit, isNegated: isUpper)
        case 0x77, 0x57:
            position += 1
            return CharacterClass.Part(kind: .word, isNegated: isUpper)
        case 0x73, 0x53:
            position += 1
            return CharacterClass.Part(kind: .space, isNegated: isUpper)
        case 0x70, 0x50:
            position += 1
            return CharacterClass.Part(
                kind: .category(try categoryName()), isNegated: isUpper)
        default: return nil
        }
    }

    private mutating func categoryName() throws(StoreError) -> String {
        guard let first = peek(), let scalar = Unicode.Scalar(first) else {
            throw failure("malformed \\P or \\p sequence")
        }
        position += 1
        guard first == 0x7B else { return String(Character(scalar)) }
        var name = ""
        while let next = peek(), next != 0x7D, let scalar = Unicode.Scalar(next) {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard takes("}"), (1...2).contains(name.utf8.count) else {
            throw failure("unknown property name after \\P or \\p")
        }
        return name
    }

    /// One character behind a backslash.
    private mutating func escapedCharacter() throws(StoreError) -> UInt32 {
        guard let next = peek() else { throw failure("\\ at end of pattern") }
        position += 1
        switch next {
        case 0x6E: return 0x0A
        case 0x72: return 0x0D
        case 0x74: return 0x09
        case 0x66: return 0x0C
        case 0x76: return 0x0B
        case 0x65: return 0x1B
        case 0x61: return 0x07
        case 0x30: return octal()
        case 0x78: return try hexadecimal()
        case 0x31...0x39, 0x41...0x5A, 0x61...0x7A:
            throw failure("unrecognized character follows \\")
        default: return next
        }
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

    /// One character of a class, or `nil` when a named set was inserted.
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
        let sets: [(String, [ClosedRange<UInt32>])] = [
            ("alpha:]", [0x41...0x5A, 0x61...0x7A]), ("digit:]", [0x30...0x39]),
            ("alnum:]", [0x30...0x39, 0x41...0x5A, 0x61...0x7A]), ("upper:]", [0x41...0x5A]),
            ("lower:]", [0x61...0x7A]), ("space:]", [0x09...0x0D, 0x20...0x20]),
            ("punct:]", [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]),
            ("xdigit:]", [0x30...0x39, 0x41...0x46, 0x61...0x66]),
            ("word:]", [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]),
        ]
        for (name, ranges) in sets where takes(name) {
            members.ranges += ranges
            return
        }
        throw failure("unknown POSIX class name")
    }

    /// Writes the instructions of a node.
    mutating func emit(_ node: Node) throws(StoreError) {
        guard automaton.instructions.count < TextAutomaton.instructionsMax else {
            throw failure("regular expression is too large")
        }
        switch node {
        case .nothing: return
        case .take(let instruction): automaton.instructions.append(instruction)
        case .sequence(let nodes): for node in nodes { try emit(node) }
        case .alternatives(let branches): try emit(branches: branches)
        case .repeated(let node, let least, let most, let isLazy):
            for _ in 0..<least { try emit(node) }
            if let most {
                for _ in least..<max(least, most) {
                    try emitOptional(node, isLoop: false, isLazy: isLazy)
                }
            } else {
                try emitOptional(node, isLoop: true, isLazy: isLazy)
            }
        case .group(let number, let node):
            automaton.instructions.append(.save(Int32(2 * number)))
            try emit(node)
            automaton.instructions.append(.save(Int32(2 * number + 1)))
        case .look(let node, let isNegated):
            let outer = automaton
            automaton.instructions = []
            automaton.lookAheads = []
            try emit(node)
            automaton.instructions.append(.match)
            let inner = automaton
            automaton = outer
            automaton.lookAheads.append(inner)
            automaton.instructions.append(
                .look(Int32(automaton.lookAheads.count - 1), isNegated: isNegated))
        }
    }

    private mutating func emit(branches: [Node]) throws(StoreError) {
        var ends: [Int] = []
        for (index, branch) in branches.enumerated() {
            guard index < branches.count - 1 else {
                try emit(branch)
                break
            }
            let split = automaton.instructions.count
            automaton.instructions.append(.match)
            try emit(branch)
            ends.append(automaton.instructions.count)
            automaton.instructions.append(.match)
            automaton.instructions[split] = .split(
                Int32(split + 1), Int32(automaton.instructions.count))
        }
        for end in ends {
            automaton.instructions[end] = .jump(Int32(automaton.instructions.count))
        }
    }

    /// A node that may be left out, as often as wanted for a loop.
    private mutating func emitOptional(
        _ node: Node, isLoop: Bool, isLazy: Bool
    ) throws(StoreError) {
        let split = automaton.instructions.count
        automaton.instructions.append(.match)
        try emit(node)
        if isLoop { automaton.instructions.append(.jump(Int32(split))) }
        let (inside, behind) = (Int32(split + 1), Int32(automaton.instructions.count))
        // Which way comes first decides which of several matches is taken.
        automaton.instructions[split] = isLazy ? .split(behind, inside) : .split(inside, behind)
    }
}
