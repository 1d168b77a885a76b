/// The change of a stored array by the difference of two encodings.
///
/// Each element of the new encoding is compared with the stored element that it came from: the one
/// of the same identity, an equal one of any edition, or, where the array kept its length, the one
/// at the same position or the only one left. An identity that several elements have counts as
/// none. An element without a stored one is written as it is. A stored element that the type's
/// decoder skipped stays behind the one that it followed.
struct ElementsChange {
    /// A stored element, or a stored pair of key and value.
    private struct StoredPart {
        /// The type's encoding of it; `nil` if unknown.
        var before: ArraySlice<MarkedValue>?
        let stored: ArraySlice<BSONValue>
        /// Whether the type's decoder read the array without this part.
        var isSkipped = false

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

        /// Whether no element came from a part.
        func isFree(_ position: Int) -> Bool { !used.contains(position) }

        /// Whether an element that was not found may be the changed one at its position.
        ///
        /// No identity may contradict: both have the same one, which others have, too, or none is
        /// stored and the element's is new to the edition.
        func mayHold(_ value: MarkedValue, at position: Int) -> Bool {
            let part = parts[position]
            guard isFree(position), let before = part.before?.first else { return false }
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
    consuming func apply(_ assumptions: inout EncodedChange.Assumptions) -> BSONArray {
        BSONArray(after.kind == .list ? list(&assumptions) : unordered(&assumptions))
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
        var matcher = matcher
        let starts = Array(stride(from: 0, to: encoded.count, by: size))
        matcher.noteRepetitions(starts.map { matcher.key(of: encoded[$0]) })
        matcher.noteRepetitions(slices.compactMap { $0.first.map { matcher.key(ofStored: $0) } })
        let made = starts.map { matcher.key(of: encoded[$0]) }
        let keys = slices.map { $0.first.map { matcher.key(ofStored: $0) } }
        var positions: [ElementKey: [Int]] = [:]
        for (start, key) in zip(starts, made).reversed() {
            positions[key, default: []].append(start)
        }
        if kind == .list, encoded.count == stored.count {
            // A decoder may sort the elements; else each is what the decoder made of its place.
            let isMoved = zip(keys, made).contains { key, own in
                key != own && key.flatMap { positions[$0] } != nil
            }
            if !isMoved {
                return slices.map { StoredPart(before: encoded[$0.indices], stored: $0) }
            }
        }
        // The decoder skipped or moved elements: they are found by what they hold.
        var found = keys.map { key in
            key.flatMap { key -> Int? in
                guard let equal = positions[key], let start = equal.last else { return nil }
                // A set has one of several equal parts.
                if equal.count > 1 { positions[key]?.removeLast() }
                return start
            }
        }
        let taken = Set(found.compactMap(\.self))
        var completed = CompletedElements(
            elements: encoded,
            starts: starts.filter { !taken.contains($0) } + (kind == .list ? [] : taken.sorted()),
            // A set has one of several equal parts.
            isUsedUp: kind == .list)
        for (index, slice) in slices.enumerated() where found[index] == nil {
            found[index] = slice.first.flatMap { completed.find($0, matcher) }
        }
        let skipped = Self.fillGaps(in: &found, starts, isOrdered: kind == .list)
        return slices.indices.map { index in
            StoredPart(
                before: found[index].map { encoded[$0..<$0 + size] }, stored: slices[index],
                isSkipped: skipped.contains(index))
        }
    }

    /// Finds what the decoder made of parts by their neighbours, and returns the parts that it skipped.
    ///
    /// Between two neighbours that were found, in an ordered array, the decoder made either all parts
    /// or none; else it cannot be told which one is which, and they count as unknown.
    ///
    /// - Parameters:
    ///   - found: for each stored part, what the decoder made of it.
    ///   - made: all that the decoder made.
    private static func fillGaps(
        in found: inout [Int?], _ made: [Int], isOrdered: Bool
    ) -> Set<Int> {
        let taken = Set(found.compactMap(\.self))
        guard taken.count < made.count else {
            return Set(found.indices.filter { found[$0] == nil })
        }
        guard isOrdered else { return [] }
        var skipped: Set<Int> = []
        var (index, previous) = (0, -1)
        while index < found.count {
            if let start = found[index] {
                previous = start
                index += 1
                continue
            }
            let end = found[index...].firstIndex { $0 != nil } ?? found.count
            let next = end < found.count ? found[end] ?? made.count : made.count
            // What the decoder made between the neighbours, none of it found.
            let between = previous + 1..<max(previous + 1, next)
            if between.isEmpty, previous < next {
                skipped.formUnion(index..<end)
            } else if between.count == end - index, between.allSatisfy({ !taken.contains($0) }) {
                for (part, start) in zip(index..<end, between) { found[part] = start }
            }
            index = end
        }
        return skipped
    }
}

// MARK: - Lists

extension ElementsChange {
    private consuming func list(
        _ assumptions: inout EncodedChange.Assumptions
    ) -> [BSONValue] {
        let found = editions.indices.map { editions[$0].origins(of: after.values) }
        var places = after.values.indices.map { index in
            editions.indices.compactMap { edition in
                found[edition][index].map { editions[edition].parts[$0].place(0) }
            }
        }
        var origins = found[0]
        for (index, position) in positions(of: places.indices.filter { places[$0].isEmpty }) {
            origins[index] = position
            places[index] = [editions[0].parts[position].place(0)]
        }
        var written: [BSONValue] = []
        for (value, places) in zip(after.values, places) {
            written.append(EncodedChange.apply(value, to: places, &assumptions) ?? value.unmarked)
        }
        return withSkipped(written, origins, &assumptions)
    }

    /// Returns the stored parts of elements that were not found, by their position: the same one, or
    /// the only one left.
    private func positions(of lost: [Int]) -> [(index: Int, position: Int)] {
        let main = editions[0]
        let seen = main.parts.indices.filter { !main.parts[$0].isSkipped }
        guard seen.count == after.values.count, !lost.isEmpty else { return [] }
        let same = lost.filter { main.mayHold(after.values[$0], at: seen[$0]) }
        let rest = lost.filter { !same.contains($0) }
        var pairs = same.map { (index: $0, position: seen[$0]) }
        if rest.count == 1 {
            let taken = Set(pairs.map(\.position))
            let free = seen.filter { main.isFree($0) && !taken.contains($0) }
            if free.count == 1, main.mayHold(after.values[rest[0]], at: free[0]) {
                pairs.append((rest[0], free[0]))
            }
        }
        return pairs
    }

    /// Returns the elements with the parts that the decoder skipped, each behind the element that it
    /// followed.
    private func withSkipped(
        _ written: [BSONValue], _ origins: [Int?],
        _ assumptions: inout EncodedChange.Assumptions
    ) -> [BSONValue] {
        let parts = editions[0].parts
        guard assumptions.areMade, parts.contains(where: \.isSkipped) else { return written }
        assumptions.areUsed = true
        var indices: [Int: Int] = [:]
        for (index, origin) in origins.enumerated() { if let origin { indices[origin] = index } }
        var following: [Int: [BSONValue]] = [:]
        var previous = -1
        for (position, part) in parts.enumerated() {
            if part.isSkipped {
                following[previous, default: []] += part.stored
            } else {
                previous = indices[position] ?? previous
            }
        }
        var result = following[-1] ?? []
        for (index, value) in written.enumerated() {
            result.append(value)
            result += following[index] ?? []
        }
        return result
    }
}

// MARK: - Sets and dictionaries

extension ElementsChange {
    /// Keeps the stored order: parts that left are omitted, new ones follow.
    private func unordered(_ assumptions: inout EncodedChange.Assumptions) -> [BSONValue] {
        var wanted: [ElementKey: Int] = [:]
        for index in stride(from: 0, to: after.values.count, by: partSize) {
            wanted[editions[0].key(of: after.values[index])] = index
        }
        var result: [BSONValue] = []
        var written: Set<Int> = []
        for (part, key) in zip(editions[0].parts, editions[0].keys) {
            if part.isSkipped, assumptions.areMade, wanted[key] == nil {
                assumptions.areUsed = true
                result += part.stored
                continue
            }
            guard part.before != nil, let index = wanted[key] else { continue }
            written.insert(index)
            append(index, [part], to: &result, &assumptions)
        }
        for index in stride(from: 0, to: after.values.count, by: partSize)
        where !written.contains(index) {
            let value = after.values[index]
            append(
                index,
                editions.compactMap { edition in
                    edition.first(edition.key(of: value)).map { edition.parts[$0] }
                },
                to: &result, &assumptions)
        }
        return result
    }

    private func append(
        _ index: Int, _ parts: [StoredPart], to result: inout [BSONValue],
        _ assumptions: inout EncodedChange.Assumptions
    ) {
        for offset in 0..<partSize {
            let value = after.values[index + offset]
            let places = parts.map { $0.place(offset) }
            result.append(EncodedChange.apply(value, to: places, &assumptions) ?? value.unmarked)
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
    /// Whether each element is found once.
    let isUsedUp: Bool
    private var used: Set<Int> = []
    /// The positions by fingerprint, last first.
    private var positions: [Set<Name>: [[UInt8]: [Int]]] = [:]

    init(elements: [MarkedValue], starts: [Int], isUsedUp: Bool) {
        self.elements = elements
        self.starts = starts
        self.isUsedUp = isUsedUp
    }

    /// Returns the position of an element that has the fields of a stored one.
    ///
    /// In a list a stored element without a field that the type knows is found by its neighbours only.
    mutating func find(_ stored: BSONValue, _ matcher: ElementMatcher) -> Int? {
        guard let names = matcher.names(ofStored: stored), !isUsedUp || !names.isEmpty else {
            return nil
        }
        let fingerprint = Fingerprint.unordered(stored, known: names)
        if positions[names] == nil {
            var found: [[UInt8]: [Int]] = [:]
            for start in starts.reversed() {
                let element = Fingerprint.unordered(elements[start].unmarked, known: names)
                found[element, default: []].append(start)
            }
            positions[names] = found
        }
        while let position = positions[names]?[fingerprint]?.last {
            guard isUsedUp else { return position }
            positions[names]?[fingerprint]?.removeLast()
            if used.insert(position).inserted { return position }
        }
        return nil
    }
}
