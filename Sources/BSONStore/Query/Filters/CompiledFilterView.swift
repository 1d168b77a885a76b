/// A compiled filter as the matcher reads it: in place, by pointers.
///
/// This file holds the pointers of matching. They are valid while ``CompiledFilter/withView(_:)``
/// runs. Reading the arrays themselves would count references and check bounds for each document.
struct CompiledFilterView {
    fileprivate let clauses: UnsafeBufferPointer<CompiledFilter.Clause>
    fileprivate let subclauses: UnsafeBufferPointer<Int32>
    fileprivate let keyGroups: UnsafeBufferPointer<CompiledFilter.KeyGroup>
    fileprivate let conditions: UnsafePointer<CompiledFilter.Condition>
    fileprivate let pathSteps: UnsafeBufferPointer<CompiledFilter.PathStep>
    fileprivate let constants: UnsafeBufferPointer<CompiledFilter.Constant>
    fileprivate let patterns: UnsafeBufferPointer<CompiledRegex>
    fileprivate let bytes: UnsafeRawPointer

    /// The clause that is the whole filter.
    var root: CompiledFilter.Clause {
        @inline(__always) get { clauses[0] }
    }

    /// Returns the clause that an array's element must match.
    @inline(__always)
    func elementClause(of condition: ConditionView) -> CompiledFilter.Clause {
        clauses[Int(condition.reference)]
    }

    /// Returns the other clauses that a clause joins.
    @inline(__always)
    func parts(of clause: CompiledFilter.Clause) -> ClauseList {
        ClauseList(clauses: clauses, positions: subclauses, range: clause.subclauses)
    }

    /// Returns the part of a "not".
    @inline(__always)
    func onlyPart(of clause: CompiledFilter.Clause) -> CompiledFilter.Clause {
        clauses[Int(subclauses[Int(clause.subclauses.lowerBound)])]
    }

    /// Returns one of a clause's key groups, counted from 0.
    @inline(__always)
    func keyGroup(_ number: Int, of clause: CompiledFilter.Clause) -> CompiledFilter.KeyGroup {
        keyGroups[Int(clause.keyGroups.lowerBound) + number]
    }

    /// Whether a key is that of a group.
    @inline(__always)
    func hasKey(_ group: CompiledFilter.KeyGroup, _ key: RawKey) -> Bool {
        group.keyCount == key.bytes.count && group.keyFirst == key.first
            && BSONCursor.isEqual(
                key.bytes,
                UnsafeRawBufferPointer(start: bytes + group.keyStart, count: group.keyCount))
    }

    @inline(__always)
    func conditions(of group: CompiledFilter.KeyGroup) -> ConditionList {
        ConditionList(
            position: conditions + Int(group.conditions.lowerBound),
            end: conditions + Int(group.conditions.upperBound))
    }

    @inline(__always)
    func pathStep(_ position: Int32) -> CompiledFilter.PathStep { pathSteps[Int(position)] }

    /// Whether a key is the one of a step.
    @inline(__always)
    func hasKey(_ step: CompiledFilter.PathStep, _ key: UnsafeRawBufferPointer) -> Bool {
        guard step.key.count == key.count else { return false }
        return BSONCursor.isEqual(
            key,
            UnsafeRawBufferPointer(
                start: bytes + Int(step.key.lowerBound), count: step.key.count))
    }

    @inline(__always)
    func constant(_ position: Int32) -> BSONRawValue {
        let constant = constants[Int(position)]
        return BSONRawValue(
            typeByte: constant.typeByte, start: bytes + Int(constant.bytes.lowerBound),
            count: constant.bytes.count)
    }

    /// Returns the regular expressions of a condition.
    @inline(__always)
    func patterns(of condition: ConditionView) -> Slice<UnsafeBufferPointer<CompiledRegex>> {
        let range = condition.patterns
        return patterns[Int(range.lowerBound)..<Int(range.upperBound)]
    }
}

/// A condition in place: it is too large to copy for each value.
struct ConditionView {
    fileprivate let pointer: UnsafePointer<CompiledFilter.Condition>

    var test: CompiledFilter.Test { @inline(__always) get { pointer.pointee.test } }
    var triesElements: Bool { @inline(__always) get { pointer.pointee.triesElements } }
    var rank: Int8 { @inline(__always) get { pointer.pointee.rank } }
    var types: Predicate.TypeSet { @inline(__always) get { pointer.pointee.types } }
    var path: Range<Int32> { @inline(__always) get { pointer.pointee.path } }
    var constants: Range<Int32> { @inline(__always) get { pointer.pointee.constants } }
    var patterns: Range<Int32> { @inline(__always) get { pointer.pointee.patterns } }
    var reference: Int32 { @inline(__always) get { pointer.pointee.reference } }
    var number: Int64 { @inline(__always) get { pointer.pointee.number } }
    var double: Double { @inline(__always) get { pointer.pointee.double } }
    var numberKind: CompiledFilter.NumberKind {
        @inline(__always) get { pointer.pointee.numberKind }
    }
    var remainder: Int64 { @inline(__always) get { pointer.pointee.remainder } }

    /// Whether the condition holds, by whether a value passed its test.
    @inline(__always)
    func holds(_ hasPassed: Bool) -> Bool { hasPassed != pointer.pointee.isNegated }
}

/// The parts of a clause, one after the other.
struct ClauseList: Sequence, IteratorProtocol {
    fileprivate let clauses: UnsafeBufferPointer<CompiledFilter.Clause>
    fileprivate let positions: UnsafeBufferPointer<Int32>
    fileprivate var range: Range<Int32>

    @inline(__always)
    mutating func next() -> CompiledFilter.Clause? {
        guard let first = range.first else { return nil }
        range = first + 1..<range.upperBound
        return clauses[Int(positions[Int(first)])]
    }
}

/// The conditions of a key group, one after the other.
struct ConditionList: Sequence, IteratorProtocol {
    fileprivate var position: UnsafePointer<CompiledFilter.Condition>
    fileprivate let end: UnsafePointer<CompiledFilter.Condition>

    @inline(__always)
    mutating func next() -> ConditionView? {
        guard position < end else { return nil }
        defer { position += 1 }
        return ConditionView(pointer: position)
    }
}

// MARK: - Lending

extension CompiledFilter {
    /// Calls a closure with a view of the filter, which is valid until the closure returns.
    @inline(__always)
    func withView<R, E: Error>(_ body: (CompiledFilterView) throws(E) -> R) throws(E) -> R {
        try clauses.withUnsafeBufferPointer { (clauses) throws(E) -> R in
            try subclauses.withUnsafeBufferPointer { (subclauses) throws(E) -> R in
                try keyGroups.withUnsafeBufferPointer { (keyGroups) throws(E) -> R in
                    try conditions.withUnsafeBufferPointer { (conditions) throws(E) -> R in
                        try withConstants(clauses, subclauses, keyGroups, conditions, body)
                    }
                }
            }
        }
    }

    @inline(__always)
    private func withConstants<R, E: Error>(
        _ clauses: UnsafeBufferPointer<Clause>, _ subclauses: UnsafeBufferPointer<Int32>,
        _ keyGroups: UnsafeBufferPointer<KeyGroup>,
        _ conditions: UnsafeBufferPointer<Condition>,
        _ body: (CompiledFilterView) throws(E) -> R
    ) throws(E) -> R {
        try pathSteps.withUnsafeBufferPointer { (pathSteps) throws(E) -> R in
            try constants.withUnsafeBufferPointer { (constants) throws(E) -> R in
                try patterns.withUnsafeBufferPointer { (patterns) throws(E) -> R in
                    try bytes.withLentBytes { (bytes) throws(E) -> R in
                        guard let conditions = conditions.baseAddress,
                            let bytes = bytes.baseAddress
                        else { preconditionFailure("an array has an address, also an empty one") }
                        return try body(
                            CompiledFilterView(
                                clauses: clauses, subclauses: subclauses, keyGroups: keyGroups,
                                conditions: conditions, pathSteps: pathSteps,
                                constants: constants, patterns: patterns, bytes: bytes))
                    }
                }
            }
        }
    }
}
