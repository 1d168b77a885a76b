/// The change of a stored array by the difference of two encodings.
///
/// Each element of the new encoding is compared with the stored element that it came from: the one
/// of the same identity, an equal one of any edition, or the one at the same position where the
/// array kept its length. An identity that several elements have counts as none. An element without
/// a stored one is written as it is.
struct ElementsChange {
    /// A stored element, or a stored pair of key and value.
    private struct StoredPart {
        /// The type's encoding of it; `nil` if unknown.
        var before: ArraySlice<MarkedValue>?
        let stored: ArraySlice<BSONValue>

        func place(_ offset: Int) -> EncodedChange.Place {
            EncodedChange.Place(
                before: before.map { $0[$0.startIndex + offset] },
                stored: stored[stored.startIndex + offset])
        }

        func key(by matcher: ElementMatcher) -> ElementKey {
            before?.first.map { matcher.key(of: $0) }
                ?? stored.first.map { matcher.key(ofStored: $0) } ?? .content([])
        }

        /// Whether the document holds an identity that is not only a default of its type.
        func hasStoredIdentity(by matcher: ElementMatcher) -> Bool {
            stored.first.map { matcher.identity(ofStored: $0) != nil } ?? false
        }
    }

    /// The array in one edition.
    private struct Edition {
        let parts: [StoredPart]
        /// The key by which each part is found.
        let keys: [ElementKey]
        private let matcher: ElementMatcher
        private var positions: [ElementKey: [Int]] = [:]
        private var used: Set<Int> = []

        init(_ parts: [StoredPart], _ matcher: ElementMatcher) {
            var matcher = matcher
            var keys = parts.map { $0.key(by: matcher) }
            if matcher.noteRepetitions(keys) { keys = parts.map { $0.key(by: matcher) } }
            self.parts = parts
            self.keys = keys
            self.matcher = matcher
            for (position, key) in keys.enumerated() {
                positions[key, default: []].append(position)
            }
            // In order, so that the first is removed in constant time.
            for key in positions.keys { positions[key]?.reverse() }
        }

        /// Returns the key by which an element is looked for in this edition.
        func key(of value: MarkedValue) -> ElementKey { matcher.key(of: value) }

        /// Returns the position of the part that each element came from, and uses the parts up.
        mutating func origins(of values: [MarkedValue]) -> [Int?] {
            let wanted = values.map { key(of: $0) }
            var origins: [Int?] = wanted.map { _ in nil }
            // An element that stayed in its place comes before equal ones elsewhere.
            for index in 0..<min(wanted.count, keys.count) where wanted[index] == keys[index] {
                origins[index] = index
                used.insert(index)
            }
            for index in wanted.indices where origins[index] == nil {
                origins[index] = take(wanted[index])
            }
            return origins
        }

        private mutating func take(_ key: ElementKey) -> Int? {
            while let position = positions[key]?.popLast() {
                if used.insert(position).inserted { return position }
            }
            return nil
        }

        /// Returns the position of a part with the key.
        func first(_ key: ElementKey) -> Int? { positions[key]?.last }

        /// Whether an element that was not found may be the changed one at its position.
        ///
        /// No identity may contradict: both have the same one, which others have, too, or none is
        /// stored and the element's is new to the edition.
        func mayHold(_ value: MarkedValue, at position: Int) -> Bool {
            let part = parts[position]
            guard !used.contains(position), let before = part.before?.first else { return false }
            let old = ElementMatcher.identity(of: before)
            let new = ElementMatcher.identity(of: value)
            if old == new { return true }
            guard let new else { return !part.hasStoredIdentity(by: matcher) }
            return !part.hasStoredIdentity(by: matcher) && positions[new] == nil
                && !matcher.isRepeated(new)
        }
    }

    private let after: MarkedElements
    private let partSize: Int
    private var editions: [Edition]

    /// Creates the change; `nil` where no edition has an array.
    init?(_ after: MarkedElements, _ places: [EncodedChange.Place]) {
        let size = after.kind == .pairs ? 2 : 1
        self.after = after
        partSize = size
        let matcher = ElementMatcher(after, partSize: size, places)
        editions = places.compactMap { place in
            guard case .array(let stored) = place.stored else { return nil }
            let parts = Self.parts(Array(stored), place.before, after.kind, matcher)
            return Edition(parts, matcher)
        }
        guard !editions.isEmpty else { return nil }
    }

    /// Returns the changed array.
    consuming func apply() -> BSONArray {
        BSONArray(after.kind == .list ? list() : unordered())
    }

    /// Splits a stored array and finds what the type made of each part.
    private static func parts(
        _ stored: [BSONValue], _ before: MarkedValue?, _ kind: MarkedElements.Kind,
        _ matcher: ElementMatcher
    ) -> [StoredPart] {
        let size = kind == .pairs ? 2 : 1
        guard stored.count.isMultiple(of: size) else { return [] }
        let slices = stride(from: 0, to: stored.count, by: size).map { stored[$0..<$0 + size] }
        guard case .elements(let elements) = before, elements.kind == kind else {
            return slices.map { StoredPart(before: nil, stored: $0) }
        }
        let encoded = elements.values
        if kind == .list, encoded.count == stored.count {
            return slices.map { StoredPart(before: encoded[$0.indices], stored: $0) }
        }
        // The decoder dropped or moved elements: they are found by what they hold.
        var matcher = matcher
        let starts = stride(from: 0, to: encoded.count, by: size)
        matcher.noteRepetitions(starts.map { matcher.key(of: encoded[$0]) })
        matcher.noteRepetitions(slices.compactMap { $0.first.map { matcher.key(ofStored: $0) } })
        var positions: [ElementKey: Int] = [:]
        for start in starts.reversed() { positions[matcher.key(of: encoded[start])] = start }
        let found = slices.map { $0.first.flatMap { positions[matcher.key(ofStored: $0)] } }
        let taken = Set(found.compactMap(\.self))
        var completed = CompletedElements(
            elements: encoded, starts: starts.filter { !taken.contains($0) } + taken.sorted())
        return zip(slices, found).map { slice, position in
            let start = position ?? slice.first.flatMap { completed.find($0, matcher) }
            return StoredPart(before: start.map { encoded[$0..<$0 + size] }, stored: slice)
        }
    }
}

// MARK: - Lists

extension ElementsChange {
    private consuming func list() -> [BSONValue] {
        let found = editions.indices.map { editions[$0].origins(of: after.values) }
        var places = after.values.indices.map { index in
            editions.indices.compactMap { edition in
                found[edition][index].map { editions[edition].parts[$0].place(0) }
            }
        }
        if editions[0].parts.count == after.values.count {
            for (index, value) in after.values.enumerated()
            where places[index].isEmpty && editions[0].mayHold(value, at: index) {
                places[index] = [editions[0].parts[index].place(0)]
            }
        }
        return zip(after.values, places).map { value, places in
            EncodedChange.apply(value, to: places) ?? value.unmarked
        }
    }
}

// MARK: - Sets and dictionaries

extension ElementsChange {
    /// Keeps the stored order: parts that left are omitted, new ones follow.
    private func unordered() -> [BSONValue] {
        var wanted: [ElementKey: Int] = [:]
        for index in stride(from: 0, to: after.values.count, by: partSize) {
            wanted[editions[0].key(of: after.values[index])] = index
        }
        var result: [BSONValue] = []
        var written: Set<Int> = []
        for (part, key) in zip(editions[0].parts, editions[0].keys) {
            guard part.before != nil, let index = wanted[key] else { continue }
            written.insert(index)
            append(index, [part], to: &result)
        }
        for index in stride(from: 0, to: after.values.count, by: partSize)
        where !written.contains(index) {
            let value = after.values[index]
            append(
                index,
                editions.compactMap { edition in
                    edition.first(edition.key(of: value)).map { edition.parts[$0] }
                },
                to: &result)
        }
        return result
    }

    private func append(_ index: Int, _ parts: [StoredPart], to result: inout [BSONValue]) {
        for offset in 0..<partSize {
            let value = after.values[index + offset]
            result.append(
                EncodedChange.apply(value, to: parts.map { $0.place(offset) }) ?? value.unmarked)
        }
    }
}

// MARK: - Keys

/// The feature by which an element is found.
private enum ElementKey: Hashable {
    /// The value of the field that identifies the element.
    case identity([UInt8])
    /// The whole value.
    case content([UInt8])

    var isIdentity: Bool { if case .identity = self { true } else { false } }
}

/// The rules by which the elements of one array are found in its editions.
private struct ElementMatcher {
    /// The fields that the type knows; others of a stored element do not count.
    private var known: Set<Name> = []
    /// The fields that may identify an element, best first.
    private var identityKeys = ["_id", "id"]
    private var holdsExact = false
    /// The identities that several elements have, which are found by their content instead.
    private var repeated: Set<ElementKey> = []

    init(_ after: MarkedElements, partSize: Int, _ places: [EncodedChange.Place]) {
        note(after.values)
        for place in places {
            if case .elements(let before) = place.before { note(before.values) }
        }
        noteRepetitions(
            stride(from: 0, to: after.values.count, by: partSize).map { key(of: after.values[$0]) })
    }

    /// Notes the identities that occur more than once, and returns whether there are any.
    @discardableResult
    mutating func noteRepetitions(_ keys: [ElementKey]) -> Bool {
        var seen: Set<ElementKey> = []
        let found = keys.filter { $0.isIdentity && !seen.insert($0).inserted }
        repeated.formUnion(found)
        return !found.isEmpty
    }

    func isRepeated(_ identity: ElementKey) -> Bool { repeated.contains(identity) }

    private mutating func note(_ values: [MarkedValue]) {
        for value in values {
            switch value {
            case .fields(let fields):
                known.formUnion(fields.order)
                if let key = fields.elementKey { identityKeys = [key] }
            case .exact: holdsExact = true
            case .elements, .single: break
            }
        }
    }

    /// Returns the key of an element that the type decoded.
    func key(of value: MarkedValue) -> ElementKey {
        if let identity = Self.identity(of: value), !isRepeated(identity) { return identity }
        return .content(value.fingerprint)
    }

    /// Returns the key of a stored element that no encoded one is known of.
    func key(ofStored value: BSONValue) -> ElementKey {
        if holdsExact { return .content(Fingerprint.of(exact: value)) }
        if let identity = identity(ofStored: value), !isRepeated(identity) { return identity }
        return .content(Fingerprint.of(value, known: known.isEmpty ? nil : known))
    }

    /// Returns the identity of an element that the type decoded; `nil` if it has none.
    static func identity(of value: MarkedValue) -> ElementKey? {
        guard case .fields(let fields) = value else { return nil }
        return fields.identity.map { .identity($0) }
    }

    /// Returns the identity that a stored element holds, by a field that the type knows.
    func identity(ofStored value: BSONValue) -> ElementKey? {
        guard case .document(let document) = value else { return nil }
        for key in identityKeys where known.contains(key) {
            if let identity = document[key], identity != .null {
                return .identity(Fingerprint.of(identity, known: nil))
            }
        }
        return nil
    }

    /// Returns the names of a stored element's fields that count; `nil` if it is compared as a
    /// whole.
    func names(ofStored value: BSONValue) -> Set<Name>? {
        guard !holdsExact, case .document(let document) = value else { return nil }
        return known.intersection(document.lazy.filter { $1 != .null }.map { Name($0.key) })
    }
}

/// The encoded elements of an array, by those of their fields that a stored element has.
///
/// The encoding has the defaults of fields that the stored element lacks.
private struct CompletedElements {
    let elements: [MarkedValue]
    /// The positions of the elements, best first.
    let starts: [Int]
    private var positions: [Set<Name>: [[UInt8]: Int]] = [:]

    init(elements: [MarkedValue], starts: [Int]) {
        self.elements = elements
        self.starts = starts
    }

    /// Returns the position of an element that has the fields of a stored one.
    mutating func find(_ stored: BSONValue, _ matcher: ElementMatcher) -> Int? {
        guard let names = matcher.names(ofStored: stored) else { return nil }
        let fingerprint = Fingerprint.unordered(stored, known: names)
        if let found = positions[names] { return found[fingerprint] }
        var found: [[UInt8]: Int] = [:]
        for start in starts.reversed() {
            found[Fingerprint.unordered(elements[start].unmarked, known: names)] = start
        }
        positions[names] = found
        return found[fingerprint]
    }
}
