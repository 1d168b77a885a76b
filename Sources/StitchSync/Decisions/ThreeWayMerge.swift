public import BSONStore

/// A merge of two editions of a document, field by field, from their common base.
///
/// A field that one side changed takes that side's value. A field that both sides changed to the
/// same value takes it. Nested documents merge at every depth; arrays are single values. A field
/// that both sides changed to different values is an overlap: it takes the remote's value and is
/// listed. A set-like array instead joins both sides' elements, an array with ids merges the
/// elements of one id as documents, and a counter adds both differences, even equal ones.
///
/// ```swift
/// let merge = ThreeWayMerge(counters: ["votes"], arrays: ["tags"], arraysByID: ["items"])
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

    /// Dotted paths of numbers whose differences add up.
    ///
    /// The sum has the type that `$inc` gives it: the widest of int32, int64, double and
    /// decimal128, and an int32 that overflows becomes an int64. Where the sum of an int64
    /// overflows, or a number is infinite or NaN, the field is an overlap. Within the elements of
    /// ``arraysByID`` a path has no positions: `items.count`.
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
    /// Dotted paths of arrays of documents that are merged element by element.
    ///
    /// Elements are the same if they have the same `_id`, or the same `id` where they have no
    /// `_id`. An element that both sides have is merged like a nested document. One that a side
    /// added stays, behind the element that it follows there. One that a side removed is removed if
    /// the other side did not change it, else it is an overlap. The order is the remote's, or the
    /// local one if only the local side moved elements.
    ///
    /// An array with an element without id, or with two of one id, is merged as a single value. As
    /// with ``counters``, the set shows one of several paths that are equal Swift strings.
    public var arraysByID: Set<String> {
        get { Set(keyedNames.map(\.text)) }
        set { keyedNames = Set(names: newValue) }
    }
    private var counterNames: Set<Name>
    private var arrayNames: Set<Name>
    private var keyedNames: Set<Name>
    /// Whether both sides may contain the same change; then equal counters are not added.
    private var mayBeOneChange = false
    /// The side whose value an overlap takes.
    private var winner = Side.remote
    /// Whether the app's type can decode a document; `nil` for BSON.
    private var isDecodable: (@Sendable (BSONDocument) -> Bool)?

    /// One side of a conflict.
    enum Side: Sendable {
        case local
        case remote
    }

    /// Makes a merge with the given counters, set-like arrays and arrays with ids.
    ///
    /// A set of strings keeps one of the two encodings of an accent. Where documents have both, use
    /// ``init(counterPaths:arrayPaths:arrayByIDPaths:)``.
    public init(
        counters: Set<String> = [], arrays: Set<String> = [], arraysByID: Set<String> = []
    ) {
        self.init(counterPaths: counters, arrayPaths: arrays, arrayByIDPaths: arraysByID)
    }

    /// Makes a merge with paths that are compared by their bytes: `café` in both encodings is two
    /// fields, as in MongoDB.
    public init(
        counterPaths: some Sequence<String>, arrayPaths: some Sequence<String>,
        arrayByIDPaths: some Sequence<String> = []
    ) {
        counterNames = Set(names: counterPaths)
        arrayNames = Set(names: arrayPaths)
        keyedNames = Set(names: arrayByIDPaths)
    }

    /// Merges two editions; a missing base counts as an empty document.
    public func merge(
        base: BSONDocument?, local: BSONDocument, remote: BSONDocument
    ) -> Result {
        var course = Course()
        return merge(base, local, remote, &course)
    }

    /// Merges the editions of a conflict; overlaps take the winner's value.
    func merge(_ conflict: Conflict<BSONDocument>, winner: Side = .remote) -> Result? {
        guard let local = conflict.local, let remote = conflict.remote else { return nil }
        var merge = self
        merge.mayBeOneChange = conflict.mayHaveLanded
        merge.winner = winner
        return merge.decodable(conflict.base, local, remote)
    }

    /// Returns the merge for a type's documents: its result decodes as the type if both editions do.
    func checked(by isDecodable: @escaping @Sendable (BSONDocument) -> Bool) -> ThreeWayMerge {
        var merge = self
        merge.isDecodable = isDecodable
        return merge
    }

    /// Whether equal documents hold two changes: both sides added the same amount to a counter.
    func countsTwice(from base: BSONDocument?, to both: BSONDocument?) -> Bool {
        guard !counterNames.isEmpty, let base, let both else { return false }
        return !merge(base: base, local: both, remote: both).document.contentEquals(both)
    }

    /// The place of a value: its name for ``counters`` and the like, and its path in the document.
    private struct Place {
        /// The dotted path without positions of ``arraysByID``.
        var name: String
        /// The dotted path with them.
        var path: String

        func field(_ key: String) -> Place {
            Place(name: "\(name).\(key)", path: "\(path).\(key)")
        }

        func element(_ index: Int) -> Place { Place(name: name, path: "\(path).\(index)") }
    }

    /// What a merge does on its way.
    private struct Course {
        /// The paths of documents that are single values.
        var wholes: Set<Name> = []
        /// The paths of the documents that were merged field by field, inner ones first.
        var joined: [Name] = []
        var overlaps: [String] = []
    }

    private func merge(
        _ base: BSONDocument?, _ local: BSONDocument, _ remote: BSONDocument,
        _ course: inout Course
    ) -> Result {
        let document = merge(base ?? [:], local, remote, at: nil, &course)
        return Result(document: document, overlaps: course.overlaps)
    }

    private func merge(
        _ base: BSONDocument, _ local: BSONDocument, _ remote: BSONDocument, at place: Place?,
        _ course: inout Course
    ) -> BSONDocument {
        var merged = BSONDocument()
        let (before, mine) = (IndexedDocument(base), IndexedDocument(local))
        let theirs = IndexedDocument(remote)
        func here(_ key: String) -> Place {
            place?.field(key) ?? Place(name: key, path: key)
        }
        for (key, _) in remote {
            let value = merge(before[key], mine[key], theirs[key], at: here(key), &course)
            if let value { merged.append(key, value) }
        }
        for (key, value) in local where theirs[key] == nil {
            let value = merge(before[key], value, nil, at: here(key), &course)
            if let value { merged.append(key, value) }
        }
        return merged
    }

    private func merge(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?, at place: Place,
        _ course: inout Course
    ) -> BSONValue? {
        if same(local, base) { return remote }
        if same(remote, base) { return local }
        if case .document(let mine) = local, case .document(let theirs) = remote,
            course.wholes.isEmpty || !course.wholes.contains(Name(place.path))
        {
            let base = base?.documentValue ?? [:]
            let document = merge(base, mine, theirs, at: place, &course)
            course.joined.append(Name(place.path))
            return .document(document)
        }
        if keyedNames.contains(place.name),
            let array = mergeByID(base, local, remote, at: place, &course)
        {
            return array
        }
        if same(local, remote) {
            let isCounted = counterNames.contains(place.name) && !mayBeOneChange
            return isCounted ? CounterSum.of(base, local, remote) ?? remote : remote
        }
        if counterNames.contains(place.name), let sum = CounterSum.of(base, local, remote) {
            return sum
        }
        if arrayNames.contains(place.name), let union = Self.union(base, local, remote) {
            return union
        }
        return overlap(local, remote, at: place, &course)
    }

    private func overlap(
        _ local: BSONValue?, _ remote: BSONValue?, at place: Place, _ course: inout Course
    ) -> BSONValue? {
        course.overlaps.append(place.path)
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

    /// Returns the remote's elements without those that local removed, then those that local added.
    private static func union(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?
    ) -> BSONValue? {
        guard let local = local?.arrayValue, let remote = remote?.arrayValue else { return nil }
        let before = Set((base?.arrayValue?.values ?? []).map(Member.init))
        let mine = local.values
        let own = Set(mine.map(Member.init))
        let kept = remote.values.filter { element in
            let member = Member(element)
            return own.contains(member) || !before.contains(member)
        }
        let known = before.union(kept.map(Member.init))
        return .array(BSONArray(kept + mine.filter { !known.contains(Member($0)) }))
    }

    /// An element of a set: numbers are equal by their value, as for `$addToSet`, other values by their
    /// content.
    private enum Member: Hashable {
        case number([UInt8])
        case content(BSONContentHash)

        init(_ value: BSONValue) {
            switch value {
            case .int32, .int64, .double, .decimal128: self = .number(BSONKey.encode(value))
            default: self = .content(BSONDocument([("", value)]).contentHash())
            }
        }
    }
}

// MARK: - Documents of a type

extension ThreeWayMerge {
    /// The maximum number of merges that look for the parts to keep whole.
    private static let trialsMax = 64

    /// Merges so that the app's type can decode the result, if it can decode both editions.
    ///
    /// Fields that only together are a value, such as the case of an enum and its payload, cannot
    /// be merged one by one. The smallest documents with such fields are single values then, which
    /// overlap; at worst the whole document is one.
    private func decodable(
        _ base: BSONDocument?, _ local: BSONDocument, _ remote: BSONDocument
    ) -> Result {
        var course = Course()
        let merged = merge(base, local, remote, &course)
        guard let isDecodable, !isDecodable(merged.document), isDecodable(local),
            isDecodable(remote)
        else { return merged }
        var trials = Self.trialsMax
        func result(_ wholes: [Name]) -> Result {
            trials -= 1
            var course = Course(wholes: Set(wholes))
            return merge(base, local, remote, &course)
        }
        /// Returns those of some documents that must be single values, where others are.
        func needed(_ joined: [Name], besides wholes: [Name]) -> [Name] {
            guard joined.count > 1, trials > 0 else { return joined }
            let (inner, outer) = (
                Array(joined[..<(joined.count / 2)]), Array(joined[(joined.count / 2)...])
            )
            for half in [inner, outer] where isDecodable(result(wholes + half).document) {
                return needed(half, besides: wholes)
            }
            let first = needed(inner, besides: wholes + outer)
            return first + needed(outer, besides: wholes + first)
        }
        guard isDecodable(result(course.joined).document) else {
            let differing = Set(names: local.keys).union(Set(names: remote.keys))
                .filter { !same(local[$0.text], remote[$0.text]) }
            return Result(
                document: winner == .local ? local : remote,
                overlaps: differing.sorted().map(\.text))
        }
        return result(needed(course.joined, besides: []))
    }
}

// MARK: - Arrays with ids

extension ThreeWayMerge {
    /// Returns the elements of both sides, merged by their ids; `nil` for other values and for
    /// arrays whose elements cannot be distinguished.
    private func mergeByID(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?, at place: Place,
        _ course: inout Course
    ) -> BSONValue? {
        guard let mine = local.flatMap(KeyedElements.init),
            let theirs = remote.flatMap(KeyedElements.init),
            let before = KeyedElements(base ?? .array([]))
        else { return nil }
        var values: [BSONValue] = []
        for id in KeyedElements.order(base: before, local: mine, remote: theirs) {
            let index = theirs.places[id] ?? mine.places[id] ?? 0
            let value = element(
                before[id], mine[id], theirs[id], at: place.element(index), &course)
            if let value { values.append(value) }
        }
        return .array(BSONArray(values))
    }

    private func element(
        _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?, at place: Place,
        _ course: inout Course
    ) -> BSONValue? {
        switch (local, remote) {
        case (_?, _?): return merge(base, local, remote, at: place, &course)
        case (let one?, nil), (nil, let one?):
            // Added on one side, or removed on the other.
            guard let base else { return one }
            return same(one, base) ? nil : overlap(local, remote, at: place, &course)
        case (nil, nil): return nil
        }
    }
}
