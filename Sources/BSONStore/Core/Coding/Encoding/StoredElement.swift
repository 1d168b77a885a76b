/// A stored element of an array, or a stored pair of key and value.
struct StoredElement {
    /// The type's encoding of it; `nil` if unknown.
    var before: ArraySlice<MarkedValue>?
    let stored: ArraySlice<BSONValue>
    /// The way to ask the type's decoder about the array.
    let reading: EncodedChange.Reading
    /// Whether the type's decoder read the array without this element.
    var isSkipped = false

    func place(_ offset: Int) -> EncodedChange.Place {
        EncodedChange.Place(
            before: before.map { $0[$0.startIndex + offset] },
            stored: stored[stored.startIndex + offset],
            reading: reading.element(offset, of: stored))
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

/// The search for what a type's decoder made of each stored element of an array.
///
/// The decoder may have skipped, sorted and completed elements. They are found by what they hold,
/// then by those fields that they hold, then by asking the decoder, then by their neighbours.
struct StoredElementSearch {
    private let slices: [ArraySlice<BSONValue>]
    private let made: MarkedElements
    /// The positions in the encoding at which an element begins.
    private let starts: [Int]
    private let matcher: ElementMatcher
    private let reading: EncodedChange.Reading

    /// Returns the elements of a stored array, each with its encoding where that is found.
    ///
    /// - Parameters:
    ///   - place: the place of the array.
    ///   - kind: the kind of the new array.
    static func elements(
        of stored: [BSONValue], _ place: EncodedChange.Place, _ kind: MarkedElements.Kind,
        _ matcher: ElementMatcher, _ assumptions: inout EncodedChange.Assumptions
    ) -> [StoredElement] {
        let size = kind.elementSize
        guard stored.count.isMultiple(of: size) else { return [] }
        let slices = stride(from: 0, to: stored.count, by: size).map { stored[$0..<$0 + size] }
        guard case .elements(let made) = place.before, made.kind == kind else {
            return slices.map {
                StoredElement(before: nil, stored: $0, reading: place.reading)
            }
        }
        return StoredElementSearch(slices, made, matcher, place.reading).elements(&assumptions)
    }

    private init(
        _ slices: [ArraySlice<BSONValue>], _ made: MarkedElements, _ matcher: ElementMatcher,
        _ reading: EncodedChange.Reading
    ) {
        var matcher = matcher
        matcher.noteRepetitions(made.starts.map { matcher.key(of: made.values[$0]) })
        matcher.noteRepetitions(slices.compactMap { $0.first.map { matcher.key(ofStored: $0) } })
        self.slices = slices
        self.made = made
        starts = Array(made.starts)
        self.matcher = matcher
        self.reading = reading
    }

    private func elements(_ assumptions: inout EncodedChange.Assumptions) -> [StoredElement] {
        let keys = slices.map { $0.first.map { matcher.key(ofStored: $0) } }
        var positions: [ElementKey: [Int]] = [:]
        for start in starts.reversed() {
            positions[matcher.key(of: made.values[start]), default: []].append(start)
        }
        if isInPlace(keys, positions) {
            return slices.map {
                StoredElement(before: made.values[$0.indices], stored: $0, reading: reading)
            }
        }
        var found = keys.map { key in
            key.flatMap { key -> Int? in
                guard let equal = positions[key], let start = equal.last else { return nil }
                // A set has one of several equal elements.
                if equal.count > 1 { positions[key]?.removeLast() }
                return start
            }
        }
        findCompleted(&found, positions, &assumptions)
        let skipped = fillGaps(in: &found)
        let size = made.kind.elementSize
        return slices.indices.map { index in
            StoredElement(
                before: found[index].map { made.values[$0..<$0 + size] }, stored: slices[index],
                reading: reading, isSkipped: skipped.contains(index))
        }
    }

    /// Whether each element is what the decoder made of its place; a decoder may also sort them.
    private func isInPlace(_ keys: [ElementKey?], _ positions: [ElementKey: [Int]]) -> Bool {
        guard made.kind == .list, made.values.count == slices.count else { return false }
        return zip(keys, starts).allSatisfy { key, start in
            key == matcher.key(of: made.values[start]) || key.flatMap { positions[$0] } == nil
        }
    }

    /// Finds elements by those of their fields that are stored; the decoder completed the others.
    ///
    /// A stored element whose value another program wrote in another form may be meant instead, so
    /// this is an assumption. Where it is not made, and where several elements of a set have the
    /// fields, the decoder is asked.
    private func findCompleted(
        _ found: inout [Int?], _ positions: [ElementKey: [Int]],
        _ assumptions: inout EncodedChange.Assumptions
    ) {
        let isList = made.kind == .list
        let taken = Set(found.compactMap(\.self))
        var completed = CompletedElements(
            elements: made.values,
            starts: starts.filter { !taken.contains($0) } + (isList ? [] : taken.sorted()),
            isUsedUp: isList)
        let kind: EncodedChange.Assumptions.Kinds = isList ? .completingLists : .completingSets
        for (index, slice) in slices.enumerated() where found[index] == nil {
            let best = slice.first.flatMap { completed.best($0, matcher) }
            if let best, isList || best.isOnly, assumptions.use(kind) {
                completed.take(best.position)
                found[index] = best.position
            } else if let start = asked(slice, positions, &assumptions) {
                found[index] = start
            } else if let best, assumptions.use(kind) {
                found[index] = best.position
            }
        }
    }

    /// Asks the decoder what it makes of an element, and returns where that is.
    private func asked(
        _ element: ArraySlice<BSONValue>, _ positions: [ElementKey: [Int]],
        _ assumptions: inout EncodedChange.Assumptions
    ) -> Int? {
        guard made.kind != .list, assumptions.questions > 0 else { return nil }
        assumptions.questions -= 1
        return reading.elements(Array(element))?.values.first
            .flatMap { positions[matcher.key(of: $0)]?.last }
    }

    /// Finds what the decoder made of elements by their neighbours, and returns the elements that it
    /// skipped.
    ///
    /// Between two neighbours that were found, in an ordered array, the decoder made either all
    /// elements or none; else it cannot be told which one is which, and they count as unknown.
    ///
    /// - Parameter found: for each stored element, what the decoder made of it.
    private func fillGaps(in found: inout [Int?]) -> Set<Int> {
        let taken = Set(found.compactMap(\.self))
        guard taken.count < starts.count else {
            return Set(found.indices.filter { found[$0] == nil })
        }
        guard made.kind == .list else { return [] }
        var skipped: Set<Int> = []
        var (index, previous) = (0, -1)
        while index < found.count {
            if let start = found[index] {
                previous = start
                index += 1
                continue
            }
            let end = found[index...].firstIndex { $0 != nil } ?? found.count
            let next = end < found.count ? found[end] ?? starts.count : starts.count
            // What the decoder made between the neighbours, none of it found.
            let between = previous + 1..<max(previous + 1, next)
            if between.isEmpty, previous < next {
                skipped.formUnion(index..<end)
            } else if between.count == end - index, between.allSatisfy({ !taken.contains($0) }) {
                for (element, start) in zip(index..<end, between) { found[element] = start }
            }
            index = end
        }
        return skipped
    }
}

/// The encoded elements of an array, by those of their fields that a stored element has.
///
/// The encoding has the defaults of fields that the stored element lacks.
private struct CompletedElements {
    let elements: [MarkedValue]
    /// The positions of the elements, best first.
    let starts: [Int]
    /// Whether each element is found once, as in a list; a set has one of several equal elements.
    let isUsedUp: Bool
    private var used: Set<Int> = []
    /// The positions by fingerprint, best last.
    private var positions: [Set<Name>: [[UInt8]: [Int]]] = [:]

    init(elements: [MarkedValue], starts: [Int], isUsedUp: Bool) {
        self.elements = elements
        self.starts = starts
        self.isUsedUp = isUsedUp
    }

    /// Returns the position of the best element that has the fields of a stored one, and whether no
    /// other one has them.
    ///
    /// In a list a stored element without a field that the type knows is found by its neighbours only.
    mutating func best(
        _ stored: BSONValue, _ matcher: ElementMatcher
    ) -> (position: Int, isOnly: Bool)? {
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
        while let last = positions[names]?[fingerprint]?.last, used.contains(last) {
            positions[names]?[fingerprint]?.removeLast()
        }
        guard let found = positions[names]?[fingerprint], let best = found.last else { return nil }
        return (best, found.count == 1)
    }

    /// Uses an element up, if each is found once.
    mutating func take(_ position: Int) {
        if isUsedUp { used.insert(position) }
    }
}
