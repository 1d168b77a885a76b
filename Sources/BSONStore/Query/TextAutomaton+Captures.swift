extension TextAutomaton {
    /// A state with the places that were noted on the way to it.
    private struct Thread {
        let state: Int32
        let places: [Int]
    }

    /// Threads in the order of their preference, each state once.
    private struct Threads {
        var list: [Thread] = []
        private var marks: [Int]
        private var generation = 0

        init(count: Int) { marks = [Int](repeating: -1, count: count) }

        /// Marks a state and tells whether it was not there.
        mutating func mark(_ state: Int32) -> Bool {
            guard marks[Int(state)] != generation else { return false }
            marks[Int(state)] = generation
            return true
        }

        mutating func removeAll() {
            list.removeAll(keepingCapacity: true)
            generation += 1
        }
    }

    /// Finds the first match from an offset on, the one that a backtracking matcher would find.
    ///
    /// Gives the offsets of the beginning and the end of the match and of each group, -1 for groups
    /// that took no part. Takes time linear in the text for a pattern.
    func firstMatch(in text: UnsafeRawBufferPointer, from start: Int) -> [Int]? {
        var now = Threads(count: instructions.count)
        var next = Threads(count: instructions.count)
        let fresh = [Int](repeating: -1, count: 2 * groupCount + 2)
        var best: [Int]?
        var at = start
        var before = Self.character(before: start, in: text)
        while true {
            let (character, size) = Self.character(at: at, in: text)
            let place = Place(text: text, at: at, before: before, next: character)
            if best == nil {
                var places = fresh
                places[0] = at
                add(Thread(state: 0, places: places), to: &now, place)
            }
            guard !now.list.isEmpty else { return best }
            let following = Self.character(at: at + size, in: text).0
            let nextPlace = Place(text: text, at: at + size, before: character, next: following)
            for thread in now.list {
                if case .match = instructions[Int(thread.state)] {
                    var places = thread.places
                    places[1] = at
                    best = places
                    // What is less preferred than a match does not count any more.
                    break
                }
                guard let character, takes(character, at: thread.state) else { continue }
                add(
                    Thread(state: thread.state + 1, places: thread.places), to: &next, nextPlace)
            }
            guard character != nil else { return best }
            swap(&now, &next)
            next.removeAll()
            before = character
            at += size
        }
    }

    private func takes(_ character: UInt32, at state: Int32) -> Bool {
        switch instructions[Int(state)] {
        case .character(let wanted): wanted == character
        case .any(let withLineEnds): withLineEnds || character != 0x0A
        case .member(let index): classes[Int(index)].contains(character)
        case .split, .jump, .save, .assert, .look, .match: false
        }
    }

    /// Adds what is reached without a character, the preferred way first.
    private func add(_ thread: Thread, to threads: inout Threads, _ place: Place) {
        var open = [thread]
        while let thread = open.popLast() {
            let state = thread.state
            guard threads.mark(state) else { continue }
            func go(_ target: Int32) { open.append(Thread(state: target, places: thread.places)) }
            switch instructions[Int(state)] {
            case .character, .any, .member, .match: threads.list.append(thread)
            case .split(let first, let second):
                go(second)
                go(first)
            case .jump(let target): go(target)
            case .save(let index):
                var places = thread.places
                if places.indices.contains(Int(index)) { places[Int(index)] = place.at }
                open.append(Thread(state: state + 1, places: places))
            case .assert(let assertion):
                if holds(assertion, place) { go(state + 1) }
            case .look(let automaton, let isNegated):
                let isFound = lookAheads[Int(automaton)].run(
                    place.text, from: place.at, isAnchored: true)
                if isFound != isNegated { go(state + 1) }
            }
        }
    }
}

extension TextPattern {
    /// How many groups the pattern captures.
    var groupCount: Int {
        switch search {
        case .literal: 0
        case .automaton(let automaton): automaton.groupCount
        }
    }

    /// Finds the first match from an offset on, see ``TextAutomaton/firstMatch(in:from:)``.
    func firstMatch(in text: UnsafeRawBufferPointer, from start: Int) -> [Int]? {
        switch search {
        case .automaton(let automaton): return automaton.firstMatch(in: text, from: start)
        case .literal(let bytes, let isAnchored):
            let last = isAnchored ? 0 : text.count - bytes.count
            guard start <= last else { return nil }
            for place in start...last where Self.begins(text, at: place, with: bytes) {
                return [place, place + bytes.count]
            }
            return nil
        }
    }
}
