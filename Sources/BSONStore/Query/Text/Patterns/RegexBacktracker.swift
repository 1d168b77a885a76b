/// The match of a pattern, in bytes of the text.
package struct RegexMatch: Sendable, Hashable {
    /// The range of the whole match.
    package let range: Range<Int>
    /// The range of each group, `nil` for one that did not participate.
    package let groups: [Range<Int>?]

    /// Creates a match.
    package init(range: Range<Int>, groups: [Range<Int>?]) {
        self.range = range
        self.groups = groups
    }
}

/// A backtracking matcher that tries alternatives in PCRE's order.
///
/// It finds the places of groups, and patterns with back references, look-behind and atomic groups.
/// Without these every pair of instruction and place is tried once, so the time stays linear. With
/// them a search gives up after a number of steps and reports no match.
struct RegexBacktracker {
    /// The maximum number of steps of a search that can repeat work, in addition to
    /// ``stepsPerByte`` for each byte of the text.
    static let stepsMax = 4_000_000
    /// The steps for each byte: enough to start at each and find no match there.
    static let stepsPerByte = 16
    /// The maximum number of bits for pairs that were tried.
    static let triedBitsMax = 1 << 28

    private let text: UnsafeRawBufferPointer
    /// Starts and ends of the groups, then the starts of the loops' rounds.
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

    /// Returns the first match from an offset on, which must be the start of a character.
    ///
    /// - Parameter memory: what earlier searches of the same text for the same pattern learned;
    ///   their matches end at the offset or before it.
    static func match(
        _ automaton: RegexAutomaton, in text: UnsafeRawBufferPointer, from: Int,
        _ memory: inout RegexSearchMemory
    ) -> RegexMatch? {
        let groups = 2 * automaton.groupCount + 2
        var search = RegexBacktracker(
            text: text, places: Array(repeating: -1, count: groups + automaton.loopCount),
            firstLoop: groups)
        if WorkBudget.isOver() { return nil }
        memory.prepare(for: automaton, text, from: from)
        var tried = memory.take()
        defer { memory.put(tried) }
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
        // `\K` moves the start.
        let start = places[0] >= 0 ? min(places[0], range.upperBound) : range.lowerBound
        return RegexMatch(range: start..<range.upperBound, groups: groups)
    }

    /// An alternative still to be tried, or a place to be restored.
    private struct Way {
        var state: Int32
        var at: Int
        var slot: Int32 = -1
    }

    /// Returns the end of a match that starts at a place, `nil` if there is none.
    private mutating func run(
        _ automaton: RegexAutomaton, from start: Int, _ tried: inout TriedStates?
    ) -> Int? {
        var ways = [Way(state: 0, at: start)]
        let width = automaton.instructions.count
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
                if tried?.insert(at * width + Int(state)) == false { break }
                let instruction = automaton.instructions[Int(state)]
                if case .match = instruction { return at }
                guard step(instruction, automaton, &state, &at, &ways) else { break }
            }
        }
        return nil
    }

    /// Executes one instruction; returns `false` if it fails.
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
            // A round that consumed nothing is the last: skip the jump that begins the next.
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

    /// Returns the end of a repetition of a group's text at this place.
    private func repeated(_ group: Int, _ ignoresCase: Bool, _ at: Int) -> Int? {
        let (begin, end) = (places[2 * group], places[2 * group + 1])
        guard begin >= 0, end >= begin else { return nil }
        var (left, right) = (begin, at)
        while left < end {
            let (a, leftSize) = RegexAutomaton.character(at: left, in: text)
            let (b, rightSize) = RegexAutomaton.character(at: right, in: text)
            guard let a, let b else { return nil }
            guard a == b || (ignoresCase && CaseVariants.of(a).contains(b)) else {
                return nil
            }
            left += leftSize
            right += rightSize
        }
        return right
    }
}

/// The places of a text at which a pattern is known not to match, over several searches.
///
/// Without it, each of n matches in a text would cost as much as the text is long.
package struct RegexSearchMemory {
    private var tried: TriedStates?
    private var isPrepared = false

    /// Knows nothing; it serves one text and one pattern.
    package init() {}

    /// Makes room at the first search, and forgets what is known about the place of a later one.
    ///
    /// A match is a chain of pairs up to its end, so that all pairs behind it failed.
    fileprivate mutating func prepare(
        for automaton: RegexAutomaton, _ text: UnsafeRawBufferPointer, from: Int
    ) {
        let width = automaton.instructions.count
        guard !isPrepared else {
            tried?.remove(from * width..<(from + 1) * width)
            return
        }
        isPrepared = true
        let bits = (text.count + 1).multipliedReportingOverflow(by: width)
        let remembers =
            !automaton.needsBacktracking && automaton.lookAheads.isEmpty && !bits.overflow
            && bits.partialValue <= RegexBacktracker.triedBitsMax
        guard remembers else { return }
        _ = WorkBudget.isOver(after: 1 + bits.partialValue >> 16)
        tried = TriedStates(count: bits.partialValue)
    }

    /// Lends the pairs, so that they are changed in place.
    fileprivate mutating func take() -> TriedStates? {
        defer { tried = nil }
        return tried
    }

    fileprivate mutating func put(_ tried: TriedStates?) { self.tried = tried }
}

/// The pairs of place and instruction that failed.
private struct TriedStates {
    private var words: [UInt64]

    init(count: Int) { words = Array(repeating: 0, count: count / 64 + 1) }

    /// Adds a pair; returns `false` if it exists.
    mutating func insert(_ pair: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(pair & 63)
        guard words[pair >> 6] & bit == 0 else { return false }
        words[pair >> 6] |= bit
        return true
    }

    /// Removes a run of pairs.
    mutating func remove(_ pairs: Range<Int>) {
        let (first, last) = (pairs.lowerBound >> 6, pairs.upperBound >> 6)
        let before: UInt64 = (1 << UInt64(pairs.lowerBound & 63)) - 1
        let behind: UInt64 = ~((1 << UInt64(pairs.upperBound & 63)) - 1)
        guard first < last else { return words[first] &= before | behind }
        words[first] &= before
        for word in first + 1..<last { words[word] = 0 }
        if last < words.count { words[last] &= behind }
    }
}

extension RegexAutomaton {
    /// Whether an instruction that consumes a character accepts this one.
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
