extension RegexParser {
    /// Returns the number of characters that a node consumes if it is fixed, else `nil`.
    static func length(of node: Node) -> Int? {
        switch node {
        case .nothing, .look, .behind: return 0
        case .take(.assert), .take(.save): return 0
        case .take: return 1
        case .sequence(let nodes):
            var sum = 0
            for node in nodes {
                guard let length = length(of: node) else { return nil }
                sum += length
            }
            return sum
        case .alternatives(let branches):
            let lengths = Set(branches.map { length(of: $0) })
            return lengths.count == 1 ? lengths.first ?? nil : nil
        case .repeated(let node, let least, let most, _):
            guard least == most, let length = length(of: node) else { return nil }
            return length.multipliedReportingOverflow(by: least).partialValue
        case .group(let node, _), .atomic(let node): return length(of: node)
        case .backReference: return nil
        }
    }

    /// Whether a node can match the empty text.
    private static func mayBeEmpty(_ node: Node) -> Bool {
        switch node {
        case .nothing, .look, .behind, .backReference, .take(.assert), .take(.save): true
        case .take: false
        case .sequence(let nodes): nodes.allSatisfy { mayBeEmpty($0) }
        case .alternatives(let branches): branches.contains { mayBeEmpty($0) }
        case .repeated(let node, let least, _, _): least == 0 || mayBeEmpty(node)
        case .group(let node, _), .atomic(let node): mayBeEmpty(node)
        }
    }

    /// Reads `\1`, `\g{1}`, `\g{-1}`, `\k<name>` at the position behind the backslash.
    mutating func backReference() throws(StoreError) -> Node {
        if takes("k{") || takes("g{") {
            if let number = relativeNumber() {
                guard takes("}") else { throw failure("a numbered reference must not be zero") }
                return try reference(to: number)
            }
            return try reference(named: try name(to: 0x7D))
        }
        if takes("k<") { return try reference(named: try name(to: 0x3E)) }
        if takes("k'") { return try reference(named: try name(to: 0x27)) }
        _ = takes("g")
        guard let number = relativeNumber() else {
            throw failure("a numbered reference must not be zero")
        }
        return try reference(to: number)
    }

    private mutating func relativeNumber() -> Int? {
        let start = position
        let isBackwards = takes("-")
        var value: Int?
        while let next = peek(), (0x30...0x39).contains(next), value ?? 0 < 100_000 {
            value = (value ?? 0) * 10 + Int(next - 0x30)
            position += 1
        }
        guard let value else {
            position = start
            return nil
        }
        return isBackwards ? groupCount + 1 - value : value
    }

    private mutating func reference(to group: Int) throws(StoreError) -> Node {
        guard group > 0 else { throw failure("reference to non-existent subpattern") }
        greatestReference = max(greatestReference, group)
        return .backReference(group, ignoresCase: flags.ignoresCase)
    }

    /// Returns a reference to a group by its name.
    mutating func reference(named name: String) throws(StoreError) -> Node {
        guard let group = groupNames[name] else {
            throw failure("reference to non-existent subpattern")
        }
        return try reference(to: group)
    }

    /// Writes the instructions of a node.
    mutating func emit(_ node: Node) throws(StoreError) {
        guard automaton.instructions.count < RegexAutomaton.instructionsMax else {
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
                try emitOptional(node, count: max(least, most) - least, isLazy: isLazy)
            } else {
                try emitLoop(node, isLazy: isLazy)
            }
        case .look(let node, let isNegated):
            try emitInner(node) { .look($0, isNegated: isNegated) }
        case .group(let node, let group):
            guard keepsGroups else { return try emit(node) }
            automaton.instructions.append(.save(Int32(2 * group)))
            try emit(node)
            automaton.instructions.append(.save(Int32(2 * group + 1)))
        case .backReference(let group, let ignoresCase):
            automaton.needsBacktracking = true
            automaton.instructions.append(
                .backReference(Int32(group), ignoresCase: ignoresCase))
        case .atomic(let node):
            automaton.needsBacktracking = true
            try emitInner(node) { .atomic($0) }
        case .behind(let branches, let isNegated): try emit(behind: branches, isNegated)
        }
    }

    private mutating func emit(behind branches: [Node], _ isNegated: Bool) throws(StoreError) {
        automaton.needsBacktracking = true
        let ways = branches.map { branch in
            let back = Node.take(.back(Int32(Self.length(of: branch) ?? 0)))
            return Node.sequence([back, branch])
        }
        let whole = ways.count == 1 ? ways[0] : .alternatives(ways)
        try emitInner(whole) { .look($0, isNegated: isNegated) }
    }

    /// Writes a node as a separate automaton and an instruction that runs it.
    private mutating func emitInner(
        _ node: Node, _ instruction: (Int32) -> RegexAutomaton.Instruction
    ) throws(StoreError) {
        let outer = automaton
        automaton.instructions = []
        automaton.lookAheads = []
        try emit(node)
        automaton.instructions.append(.match)
        var inner = automaton
        let needsBacktracking = inner.needsBacktracking
        inner.groupCount = groupCount
        automaton = outer
        automaton.needsBacktracking = needsBacktracking
        automaton.lookAheads.append(inner)
        automaton.instructions.append(instruction(Int32(automaton.lookAheads.count - 1)))
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

    /// Writes an optional node a number of times, each only behind the one before.
    private mutating func emitOptional(
        _ node: Node, count: Int, isLazy: Bool
    ) throws(StoreError) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(automaton.instructions.count)
            automaton.instructions.append(.match)
            try emit(node)
        }
        for split in splits { setSplit(split, isLazy: isLazy) }
    }

    private mutating func emitLoop(_ node: Node, isLazy: Bool) throws(StoreError) {
        let split = automaton.instructions.count
        automaton.instructions.append(.match)
        let loop = Int32(loopCount)
        let mayBeEmpty = Self.mayBeEmpty(node)
        if mayBeEmpty {
            loopCount += 1
            automaton.instructions.append(.loop(loop))
        }
        try emit(node)
        if mayBeEmpty { automaton.instructions.append(.progress(loop)) }
        automaton.instructions.append(.jump(Int32(split)))
        setSplit(split, isLazy: isLazy)
    }

    private mutating func setSplit(_ split: Int, isLazy: Bool) {
        let (into, past) = (Int32(split + 1), Int32(automaton.instructions.count))
        automaton.instructions[split] = isLazy ? .split(past, into) : .split(into, past)
    }
}
