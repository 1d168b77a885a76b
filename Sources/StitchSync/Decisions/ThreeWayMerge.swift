public import BSONStore

/// A merge of two editions of a document, field by field, from their common base.
///
/// A field that one side changed takes that side's value. A field that both sides changed to the
/// same value takes it. Nested documents merge at every depth; arrays are single values. A field
/// that both sides changed to different values is an overlap: it takes the remote's value and is
/// listed. A set-like array instead joins both sides' elements, and a counter adds both
/// differences, even equal ones.
///
/// ```swift
/// let merge = ThreeWayMerge(counters: ["votes"], arrays: ["tags"])
/// await todos.configure(conflictHandler: .mergeFields(merge))
/// ```
public struct ThreeWayMerge: Sendable {
    /// The result of a merge: a document and its overlaps.
    public struct Result: Sendable, Hashable {
        /// The merged document; the remote's fields first, then the fields that the local side
        /// added.
        public var document: BSONDocument
        /// The dotted paths that both sides changed to different values.
        public var overlaps: [String]
    }

    /// Dotted paths of int32, int64 or double fields whose differences add up.
    ///
    /// Of paths that are equal Swift strings, such as both encodings of an accent, the set shows
    /// one.
    public var counters: Set<String> {
        get { Set(counterNames.map(\.text)) }
        set { counterNames = Set(names: newValue) }
    }
    /// Dotted paths of arrays that are merged as sets of elements.
    ///
    /// As with ``counters``, the set shows one of several paths that are equal Swift strings.
    public var arrays: Set<String> {
        get { Set(arrayNames.map(\.text)) }
        set { arrayNames = Set(names: newValue) }
    }
    private var counterNames: Set<Name>
    private var arrayNames: Set<Name>
    /// Whether both sides may contain the same change; then equal counters are not added.
    private var mayBeOneChange = false
    /// The side whose value an overlap takes.
    private var winner = Side.remote

    /// One side of a conflict.
    enum Side: Sendable {
        case local
        case remote
    }

    /// Makes a merge with the given counters and set-like arrays.
    ///
    /// A set of strings keeps one of the two encodings of an accent. Where documents have both, use
    /// ``init(counterPaths:arrayPaths:)``.
    public init(counters: Set<String> = [], arrays: Set<String> = []) {
        self.init(counterPaths: counters, arrayPaths: arrays)
    }

    /// Makes a merge with paths that are compared by their bytes: `café` in both encodings is two
    /// fields, as in MongoDB.
    public init(counterPaths: some Sequence<String>, arrayPaths: some Sequence<String>) {
        counterNames = Set(names: counterPaths)
        arrayNames = Set(names: arrayPaths)
    }

    /// Merges two editions; a missing base counts as an empty document.
    public func merge(
        base: BSONDocument?, local: BSONDocument, remote: BSONDocument
    ) -> Result {
        var overlaps: [String] = []
        let document = merge(base ?? [:], local, remote, prefix: "", &overlaps)
        return Result(document: document, overlaps: overlaps)
    }

    /// Merges the editions of a conflict; overlaps take the winner's value.
    func merge(_ conflict: Conflict<BSONDocument>, winner: Side = .remote) -> Result? {
        guard let local = conflict.local, let remote = conflict.remote else { return nil }
        var merge = self
        merge.mayBeOneChange = conflict.mayHaveLanded
        merge.winner = winner
        return merge.merge(base: conflict.base, local: local, remote: remote)
    }

    /// Whether equal documents hold two changes: both sides added the same amount to a counter.
    func countsTwice(from base: BSONDocument?, to both: BSONDocument?) -> Bool {
        guard !counterNames.isEmpty, let base, let both else { return false }
        return !merge(base: base, local: both, remote: both).document.contentEquals(both)
    }

    private func merge(
        _ base: BSONDocument, _ local: BSONDocument, _ remote: BSONDocument, prefix: String,
        _ overlaps: inout [String]
    ) -> BSONDocument {
        var merged = BSONDocument()
        for key in remote.keys {
            let value = merge(
                base[key], local[key], remote[key], path: prefix + key, &overlaps)
            if let value { merged.append(key, value) }
        }
        for (key, value) in local where remote[key] == nil {
            let value = merge(base[key], value, nil, path: prefix + key, &overlaps)
            if let value { merged.append(key, value) }
        }
        return merged
    }

    private func merge(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?, path: String,
        _ overlaps: inout [String]
    ) -> BSONValue? {
        if same(local, base) { return remote }
        if same(remote, base) { return local }
        if case .document(let mine) = local, case .document(let theirs) = remote {
            let base = base?.documentValue ?? [:]
            return .document(merge(base, mine, theirs, prefix: path + ".", &overlaps))
        }
        if same(local, remote) {
            let isCounted = counterNames.contains(path) && !mayBeOneChange
            return isCounted ? Self.sum(base, local, remote) ?? remote : remote
        }
        if counterNames.contains(path), let sum = Self.sum(base, local, remote) { return sum }
        if arrayNames.contains(path), let union = Self.union(base, local, remote) { return union }
        overlaps.append(path)
        return switch winner {
        case .local: local
        case .remote: remote
        }
    }

    private func same(_ left: BSONValue?, _ right: BSONValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.contentEquals(right)
        case (nil, _), (_, nil): false
        }
    }

    /// Returns `remote + (local - base)` in the remote's type; `nil` after an overflow.
    private static func sum(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?
    ) -> BSONValue? {
        switch (base ?? .int32(0), local, remote) {
        case (.double(let base), .double(let local)?, .double(let remote)?):
            return .double(remote + (local - base))
        case (let base, let local?, let remote?):
            guard let base = wholeNumber(base), let mine = wholeNumber(local),
                let theirs = wholeNumber(remote)
            else { return nil }
            let (difference, under) = mine.subtractingReportingOverflow(base)
            let (sum, over) = theirs.addingReportingOverflow(difference)
            if under || over { return nil }
            if case .int32 = remote, let narrow = Int32(exactly: sum) { return .int32(narrow) }
            return .int64(sum)
        case (_, nil, _), (_, _, nil): return nil
        }
    }

    /// Returns the value of an int32 or int64.
    private static func wholeNumber(_ value: BSONValue) -> Int64? {
        switch value {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }

    /// Returns the remote's elements without those that local removed, then those that local added.
    private static func union(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?
    ) -> BSONValue? {
        guard let local = local?.arrayValue, let remote = remote?.arrayValue else { return nil }
        let base = base?.arrayValue?.values ?? []
        let mine = local.values
        let kept = remote.values.filter { element in
            contains(mine, element) || !contains(base, element)
        }
        let added = mine.filter { !contains(base, $0) && !contains(kept, $0) }
        return .array(BSONArray(kept + added))
    }

    private static func contains(_ values: [BSONValue], _ value: BSONValue) -> Bool {
        values.contains { $0.contentEquals(value) }
    }
}
