/// Tells where a pattern matched, in bytes of the text.
struct RegexMatch: Sendable, Hashable {
    /// What the whole pattern took.
    let range: Range<Int>
    /// What each group took, `nil` for one that took no part.
    let groups: [Range<Int>?]
}

/// Runs a pattern one way after the other in the order that PCRE tries them.
///
/// Finds the places of groups, and patterns with back references, look-behind and atomic groups.
/// Without these every pair of instruction and place is tried once, so that the time stays linear;
/// with them a search gives up after a number of steps, as if nothing matched.
struct RegexBacktracker {
    /// A search takes at most so many steps, and some for each byte of the text, where ways can
    /// be tried again.
    static let stepsMax = 4_000_000
    /// The steps for each byte: enough to begin at each and see that nothing matches there.
    static let stepsPerByte = 16
    /// The pairs that were tried take at most so many bits.
    static let triedBitsMax = 1 << 28

    private let text: UnsafeRawBufferPointer
    /// Begins and ends of the groups, then the begins of the loops' rounds.
    private var places: [Int]
    private let firstLoop: Int
    private var steps = 0
    private let limit: Int
    /// Whether the budget is over.
    private var isStopped = false

    private init(text: UnsafeRawBufferPointer, places: [Int], firstLoop: Int) {
        self.text = text
        self.places = places
        self.firstLoop = firstLoop
        limit = Self.stepsMax + Self.stepsPerByte * text.count
    }

    /// The first match from an offset on, which must be where a character begins.
    static func match(
        _ automaton: RegexAutomaton, in text: UnsafeRawBufferPointer, from: Int
    ) -> RegexMatch? {
        let groups = 2 * automaton.groupCount + 2
        var search = RegexBacktracker(
            text: text, places: Array(repeating: -1, count: groups + automaton.loopCount),
            firstLoop: groups)
        let bits = (text.count + 1).multipliedReportingOverflow(
            by: automaton.instructions.count)
        let remembers =
            !automaton.needsBacktracking && automaton.lookAheads.isEmpty && !bits.overflow
            && bits.partialValue <= triedBitsMax
        if WorkBudget.isOver(after: remembers ? 1 + bits.partialValue >> 16 : 1) { return nil }
        var tried = remembers ? TriedStates(count: bits.partialValue) : nil
        var start = from
        while start <= text.count {
            if let end = search.run(automaton, from: start, &tried) {
                return search.match(start..<end, groups: automaton.groupCount)
            }
            let size = RegexAutomaton.character(at: start, in: text).1
            guard size > 0, !search.isStopped, tried != nil || search.steps < search.limit else {
                return nil
            }
            start += size
        }
        return nil
    }

    private func match(_ range: Range<Int>, groups count: Int) -> RegexMatch {
        var groups: [Range<Int>?] = []
        for group in stride(from: 1, through: count, by: 1) {
            let (begin, end) = (places[2 * group], places[2 * group + 1])
            groups.append(begin >= 0 && end >= begin ? begin..<end : nil)
        }
        return RegexMatch(range: range, groups: groups)
    }

    /// A way that is still to be tried, or a place to be restored when it is reached.
    private struct Way {
        var state: Int32
        var at: Int
        var slot: Int32 = -1
    }

    /// Where a match from one place ends, `nil` when there is none.
    private mutating func run(
        _ automaton: RegexAutomaton, from start: Int, _ tried: inout TriedStates?
    ) -> Int? {
        var ways = [Way(state: 0, at: start)]
        let width = text.count + 1
        while let way = ways.popLast() {
            if way.slot >= 0 {
                places[Int(way.slot)] = way.at
                continue
            }
            var (state, at) = (way.state, way.at)
            while true {
                steps += 1
                if WorkBudget.isOver() {
                    isStopped = true
                    return nil
                }
                if isStopped || tried == nil && steps >= limit { return nil }
                if tried?.insert(Int(state) * width + at) == false { break }
                let instruction = automaton.instructions[Int(state)]
                if case .match = instruction { return at }
                guard step(instruction, automaton, &state, &at, &ways) else { break }
            }
        }
        return nil
    }

    /// Follows one instruction; `false` when it leads nowhere.
    private mutating func step(
        _ instruction: RegexAutomaton.Instruction, _ automaton: RegexAutomaton,
        _ state: inout Int32,
        _ at: inout Int, _ ways: inout [Way]
    ) -> Bool {
        switch instruction {
        case .character, .any, .member:
            let (next, size) = RegexAutomaton.character(at: at, in: text)
            guard let next, automaton.takes(instruction, next) else { return false }
            at += size
            state += 1
        case .split(let first, let second):
            ways.append(Way(state: second, at: at))
            state = first
        case .jump(let target): state = target
        case .assert(let assertion):
            let place = RegexAutomaton.Place(
                text: text, at: at, before: RegexAutomaton.character(before: at, in: text),
                next: RegexAutomaton.character(at: at, in: text).0)
            guard automaton.holds(assertion, place) else { return false }
            state += 1
        case .save(let slot): note(slot, &state, at, &ways)
        case .loop(let loop): note(Int32(firstLoop) + loop, &state, at, &ways)
        case .progress(let loop):
            // A round that took nothing is the last: past the jump that begins the next.
            state += places[firstLoop + Int(loop)] == at ? 2 : 1
        case .look(let inner, let isNegated):
            guard (end(of: automaton.lookAheads[Int(inner)], at) != nil) != isNegated else {
                return false
            }
            state += 1
        case .atomic(let inner):
            guard let end = end(of: automaton.lookAheads[Int(inner)], at) else { return false }
            at = end
            state += 1
        case .back(let count):
            for _ in 0..<count {
                guard at > 0 else { return false }
                at -= 1
                while at > 0, text[at] & 0xC0 == 0x80 { at -= 1 }
            }
            state += 1
        case .backReference(let group, let ignoresCase):
            guard let end = repeated(Int(group), ignoresCase, at) else { return false }
            at = end
            state += 1
        case .match: return false
        }
        return true
    }

    private mutating func note(
        _ slot: Int32, _ state: inout Int32, _ at: Int, _ ways: inout [Way]
    ) {
        ways.append(Way(state: 0, at: places[Int(slot)], slot: slot))
        places[Int(slot)] = at
        state += 1
    }

    private mutating func end(of inner: RegexAutomaton, _ at: Int) -> Int? {
        var tried: TriedStates?
        return run(inner, from: at, &tried)
    }

    /// Where the text ends that a group took, when it stands here again.
    private func repeated(_ group: Int, _ ignoresCase: Bool, _ at: Int) -> Int? {
        let (begin, end) = (places[2 * group], places[2 * group + 1])
        guard begin >= 0, end >= begin else { return nil }
        var (left, right) = (begin, at)
        while left < end {
            let (a, leftSize) = RegexAutomaton.character(at: left, in: text)
            let (b, rightSize) = RegexAutomaton.character(at: right, in: text)
            guard let a, let b else { return nil }
            guard a == b || (ignoresCase && CharacterClass.variants(a).contains(b)) else {
                return nil
            }
            left += leftSize
            right += rightSize
        }
        return right
    }
}

/// Remembers which pairs of instruction and place led nowhere.
private struct TriedStates {
    private var words: [UInt64]

    init(count: Int) { words = Array(repeating: 0, count: count / 64 + 1) }

    /// Adds a pair; `false` when it was there.
    mutating func insert(_ pair: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(pair & 63)
        guard words[pair >> 6] & bit == 0 else { return false }
        words[pair >> 6] |= bit
        return true
    }
}

extension RegexAutomaton {
    /// Whether an instruction that takes a character takes this one.
    func takes(_ instruction: Instruction, _ character: UInt32) -> Bool {
        switch instruction {
        case .character(let wanted): wanted == character
        case .any(let withLineEnds): withLineEnds || character != 0x0A
        case .member(let index): classes[Int(index)].contains(character)
        case .split, .jump, .assert, .look, .save, .loop, .progress, .backReference, .atomic,
            .back, .match:
            false
        }
    }
}
