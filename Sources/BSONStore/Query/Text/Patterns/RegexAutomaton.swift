/// The instructions of a pattern, executed with all states at once.
struct RegexAutomaton: Sendable {
    /// The maximum number of instructions, with repetitions written out.
    static let instructionsMax = 20_000

    enum Instruction: Sendable {
        /// Consumes this character.
        case character(UInt32)
        /// Consumes any character; a line end only if `withLineEnds` is set.
        case any(withLineEnds: Bool)
        /// Consumes a character of a class.
        case member(of: Int32)
        /// Continues at both places, preferring the first.
        case split(Int32, Int32)
        case jump(Int32)
        /// Continues if the assertion holds.
        case assert(Assertion)
        /// Continues if the text ahead matches another automaton, or does not.
        case look(Int32, isNegated: Bool)
        /// Records the position as the start or end of a group.
        case save(Int32)
        /// Records the start of a loop's round.
        case loop(Int32)
        /// Continues if the round consumed a character.
        case progress(Int32)
        /// Consumes a group's text again; only with backtracking, as the next two.
        case backReference(Int32, ignoresCase: Bool)
        /// Consumes the first match of another automaton.
        case atomic(Int32)
        /// Moves back a number of characters.
        case back(Int32)
        case match
    }

    enum Assertion: Sendable {
        case textStart
        case textEnd
        case textEndOrLastLineEnd
        case lineStart
        case lineEnd
        case wordBoundary
        case noWordBoundary
        /// The same, with Unicode's letters and digits.
        case unicodeWordBoundary
        case noUnicodeWordBoundary
    }

    var instructions: [Instruction] = []
    var classes: [CharacterClass] = []
    var lookAheads: [RegexAutomaton] = []
    /// The number of groups in the pattern.
    var groupCount = 0
    /// The number of loops over patterns that may match the empty text.
    var loopCount = 0
    /// Whether the pattern has a part that cannot be matched with all states at once.
    var needsBacktracking = false

    /// Whether the automaton matches at any place of a text.
    func isFound(in text: UnsafeRawBufferPointer) -> Bool {
        guard needsBacktracking else { return run(text, from: 0, isAnchored: false) }
        var memory = RegexSearchMemory()
        return RegexBacktracker.match(self, in: text, from: 0, &memory) != nil
    }

    private func run(_ text: UnsafeRawBufferPointer, from start: Int, isAnchored: Bool) -> Bool {
        let count = instructions.count
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: 4 * count) { memory in
            memory.initialize(repeating: -1)
            var states = States(memory: memory, count: count)
            var at = start
            var before = Self.character(before: start, in: text)
            while true {
                let (next, size) = Self.character(at: at, in: text)
                if WorkBudget.isOver(after: 1 + states.now / 16) { return false }
                if !isAnchored || at == start {
                    states.add(0)
                }
                let place = Place(text: text, at: at, before: before, next: next)
                if close(&states, place) { return true }
                guard let next else { return false }
                step(&states, next)
                if isAnchored, states.isEmpty { return false }
                before = next
                at += size
            }
        }
    }

    /// The position of a run: the characters on both sides.
    struct Place {
        let text: UnsafeRawBufferPointer
        let at: Int
        let before: UInt32?
        let next: UInt32?
    }

    /// The current states, each once, and room for those after the next character.
    private struct States {
        let memory: UnsafeMutableBufferPointer<Int32>
        let count: Int
        var now = 0
        var pending = 0
        var generation: Int32 = 0
        /// The half of the memory that holds the current states.
        var half = 0

        var isEmpty: Bool { now == 0 }

        subscript(index: Int) -> Int32 { memory[half * count + index] }

        /// Adds a state unless it exists.
        mutating func add(_ state: Int32) {
            let mark = 2 * count + Int(state)
            guard memory[mark] != generation else { return }
            memory[mark] = generation
            memory[half * count + now] = state
            now += 1
        }

        mutating func addPending(_ state: Int32) {
            let mark = 3 * count + Int(state)
            guard memory[mark] != generation else { return }
            memory[mark] = generation
            memory[(1 - half) * count + pending] = state
            pending += 1
        }

        /// Makes the pending states current.
        mutating func advance() {
            half = 1 - half
            now = pending
            pending = 0
            generation += 1
            for index in 0..<now { memory[2 * count + Int(self[index])] = generation }
        }
    }

    /// Adds the states reachable without a character; returns `true` if the automaton matches.
    private func close(_ states: inout States, _ place: Place) -> Bool {
        var index = 0
        while index < states.now {
            let state = states[index]
            switch instructions[Int(state)] {
            case .character, .any, .member, .backReference, .atomic, .back: break
            case .save, .loop, .progress: states.add(state + 1)
            case .split(let first, let second):
                states.add(first)
                states.add(second)
            case .jump(let target): states.add(target)
            case .assert(let assertion):
                if holds(assertion, place) { states.add(state + 1) }
            case .look(let automaton, let isNegated):
                let isFound = lookAheads[Int(automaton)].run(
                    place.text, from: place.at, isAnchored: true)
                if isFound != isNegated { states.add(state + 1) }
            case .match: return true
            }
            index += 1
        }
        return false
    }

    private func step(_ states: inout States, _ character: UInt32) {
        for index in 0..<states.now {
            let state = states[index]
            let isTaken: Bool
            switch instructions[Int(state)] {
            case .character(let wanted): isTaken = wanted == character
            case .any(let withLineEnds): isTaken = withLineEnds || character != 0x0A
            case .member(let index): isTaken = classes[Int(index)].contains(character)
            case .split, .jump, .assert, .look, .save, .loop, .progress, .backReference, .atomic,
                .back, .match:
                isTaken = false
            }
            if isTaken { states.addPending(state + 1) }
        }
        states.advance()
    }

    func holds(_ assertion: Assertion, _ place: Place) -> Bool {
        let isWord = { (character: UInt32?) in character.map(CharacterClass.isWord) ?? false }
        let isUnicodeWord = { (character: UInt32?) in
            character.map(CharacterClass.Part(kind: .category("Xwd"), isNegated: false).contains)
                ?? false
        }
        switch assertion {
        case .textStart: return place.before == nil
        case .textEnd: return place.next == nil
        case .textEndOrLastLineEnd:
            return place.next == nil || (place.next == 0x0A && place.at + 1 == place.text.count)
        case .lineStart: return place.before == nil || place.before == 0x0A
        case .lineEnd: return place.next == nil || place.next == 0x0A
        case .wordBoundary: return isWord(place.before) != isWord(place.next)
        case .noWordBoundary: return isWord(place.before) == isWord(place.next)
        case .unicodeWordBoundary: return isUnicodeWord(place.before) != isUnicodeWord(place.next)
        case .noUnicodeWordBoundary:
            return isUnicodeWord(place.before) == isUnicodeWord(place.next)
        }
    }

    /// Returns the character at an offset of valid UTF-8 and its size, `nil` at the end.
    static func character(
        at offset: Int, in text: UnsafeRawBufferPointer
    ) -> (UInt32?, Int) {
        guard offset < text.count else { return (nil, 0) }
        let lead = text[offset]
        guard lead >= 0x80 else { return (UInt32(lead), 1) }
        let size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
        guard offset + size <= text.count else { return (UInt32(lead), 1) }
        var value = UInt32(lead) & (0x7F >> UInt32(size))
        for index in 1..<size { value = value << 6 | UInt32(text[offset + index] & 0x3F) }
        return (value, size)
    }

    static func character(
        before offset: Int, in text: UnsafeRawBufferPointer
    ) -> UInt32? {
        guard offset > 0 else { return nil }
        var start = offset - 1
        while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
        return character(at: start, in: text).0
    }
}
