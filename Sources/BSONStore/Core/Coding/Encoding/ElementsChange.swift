/// The change of a stored array by the difference of two encodings.
///
/// Each element of the new encoding is compared with the stored element that it came from: the one
/// of the same identity, an equal one of any edition, or, where the array kept its length, the one
/// at the same position or the only one left. An identity that several elements have counts as
/// none. An element without a stored one is written as it is. A stored element that the type's
/// decoder skipped stays behind the one that it followed.
struct ElementsChange {
    /// The array in one edition.
    private struct Edition {
        let elements: [StoredElement]
        /// The key by which each element is found.
        let keys: [ElementKey]
        private let matcher: ElementMatcher
        private var positions: [ElementKey: [Int]] = [:]
        private var used: Set<Int> = []

        init(_ elements: [StoredElement], _ matcher: ElementMatcher) {
            var matcher = matcher
            var keys = elements.map { $0.key(by: matcher) }
            if matcher.noteRepetitions(keys) { keys = elements.map { $0.key(by: matcher) } }
            self.elements = elements
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

        /// Returns the position of the stored element that each one came from, and uses those up.
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

        /// Returns the position of a stored element with the key.
        func first(_ key: ElementKey) -> Int? { positions[key]?.last }

        /// Whether no element came from a stored one.
        func isFree(_ position: Int) -> Bool { !used.contains(position) }

        /// Whether an element that was not found may be the changed one at its position.
        ///
        /// No identity may contradict: both have the same one, which others have, too, or none is
        /// stored and the element's is new to the edition.
        func mayHold(_ value: MarkedValue, at position: Int) -> Bool {
            let element = elements[position]
            guard isFree(position), let before = element.before?.first else { return false }
            let old = ElementMatcher.identity(of: before)
            let new = ElementMatcher.identity(of: value)
            if old == new { return true }
            guard let new else { return !element.hasStoredIdentity(by: matcher) }
            return !element.hasStoredIdentity(by: matcher) && positions[new] == nil
                && !matcher.isRepeated(new)
        }
    }

    private let after: MarkedElements
    private var editions: [Edition]

    /// Creates the change; `nil` where no edition has an array.
    init?(
        _ after: MarkedElements, _ places: [EncodedChange.Place],
        _ assumptions: inout EncodedChange.Assumptions
    ) {
        self.after = after
        let matcher = ElementMatcher(after, places)
        var editions: [Edition] = []
        for place in places {
            guard case .array(let stored) = place.stored else { continue }
            let elements = StoredElementSearch.elements(
                of: Array(stored), place, after.kind, matcher, &assumptions)
            editions.append(Edition(elements, matcher))
        }
        self.editions = editions
        guard !editions.isEmpty else { return nil }
    }

    /// Returns the changed array.
    consuming func apply(_ assumptions: inout EncodedChange.Assumptions) -> BSONArray {
        BSONArray(after.kind == .list ? list(&assumptions) : unordered(&assumptions))
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
                found[edition][index].map { editions[edition].elements[$0].place(0) }
            }
        }
        var origins = found[0]
        for (index, position) in positions(of: places.indices.filter { places[$0].isEmpty }) {
            origins[index] = position
            places[index] = [editions[0].elements[position].place(0)]
        }
        var written: [BSONValue] = []
        for (value, places) in zip(after.values, places) {
            written.append(EncodedChange.apply(value, to: places, &assumptions) ?? value.unmarked)
        }
        return withSkipped(written, origins, &assumptions)
    }

    /// Returns where elements that were not found are stored: at the same position, or at the only one
    /// left.
    private func positions(of lost: [Int]) -> [(index: Int, position: Int)] {
        let main = editions[0]
        let seen = main.elements.indices.filter { !main.elements[$0].isSkipped }
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

    /// Returns the elements with those that the decoder skipped, each behind the one that it
    /// followed.
    private func withSkipped(
        _ written: [BSONValue], _ origins: [Int?],
        _ assumptions: inout EncodedChange.Assumptions
    ) -> [BSONValue] {
        let elements = editions[0].elements
        guard elements.contains(where: \.isSkipped), assumptions.use(.skipping) else {
            return written
        }
        var indices: [Int: Int] = [:]
        for (index, origin) in origins.enumerated() { if let origin { indices[origin] = index } }
        var following: [Int: [BSONValue]] = [:]
        var previous = -1
        for (position, element) in elements.enumerated() {
            if element.isSkipped {
                following[previous, default: []] += element.stored
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
    /// Keeps the stored order: elements that left are omitted, new ones follow.
    private func unordered(_ assumptions: inout EncodedChange.Assumptions) -> [BSONValue] {
        var wanted: [ElementKey: Int] = [:]
        for index in after.starts {
            wanted[editions[0].key(of: after.values[index])] = index
        }
        var result: [BSONValue] = []
        var written: Set<Int> = []
        for (element, key) in zip(editions[0].elements, editions[0].keys) {
            if element.isSkipped, wanted[key] == nil, assumptions.use(.skipping) {
                result += element.stored
                continue
            }
            guard element.before != nil, let index = wanted[key] else { continue }
            written.insert(index)
            append(index, [element], to: &result, &assumptions)
        }
        for index in after.starts where !written.contains(index) {
            let value = after.values[index]
            append(
                index,
                editions.compactMap { edition in
                    edition.first(edition.key(of: value)).map { edition.elements[$0] }
                },
                to: &result, &assumptions)
        }
        return result
    }

    private func append(
        _ index: Int, _ origins: [StoredElement], to result: inout [BSONValue],
        _ assumptions: inout EncodedChange.Assumptions
    ) {
        for offset in 0..<after.kind.elementSize {
            let value = after.values[index + offset]
            let places = origins.map { $0.place(offset) }
            result.append(EncodedChange.apply(value, to: places, &assumptions) ?? value.unmarked)
        }
    }
}
