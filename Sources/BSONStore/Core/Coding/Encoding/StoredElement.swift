/// A stored element of an array, or a stored pair of key and value.
struct StoredElement {
    /// The type's encoding of it; `nil` if unknown.
    var before: ArraySlice<MarkedValue>?
    let stored: ArraySlice<BSONValue>
    /// Whether the type's decoder read the array without this element.
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

/// The search for what a type's decoder made of each stored element of an array.
///
/// The decoder may have skipped, sorted and completed elements. They are found by what they hold,
/// then by those fields that they hold, then by their neighbours.
struct StoredElementSearch {
    private let slices: [ArraySlice<BSONValue>]
    private let made: MarkedElements
    /// The positions in the encoding at which an element begins.
    private let starts: [Int]
    private let matcher: ElementMatcher

    /// Returns the elements of a stored array, each with its encoding where that is found.
    ///
    /// - Parameters:
    ///   - before: the encoding of the array; `nil` where the type saw none.
    ///   - kind: the kind of the new array.
    static func elements(
        of stored: [BSONValue], _ before: MarkedValue?, _ kind: MarkedElements.Kind,
        _ matcher: ElementMatcher, _ assumptions: inout EncodedChange.Assumptions
    ) -> [StoredElement] {
        let size = kind.elementSize
        guard stored.count.isMultiple(of: size) else { return [] }
        let slices = stride(from: 0, to: stored.count, by: size).map { stored[$0..<$0 + size] }
        guard case .elements(let made) = before, made.kind == kind else {
            return slices.map { StoredElement(before: nil, stored: $0) }
        }
        return StoredElementSearch(slices, made, matcher).elements(&assumptions)
    }

    private init(
        _ slices: [ArraySlice<BSONValue>], _ made: MarkedElements, _ matcher: ElementMatcher
    ) {
        let starts = Array(stride(from: 0, to: made.values.count, by: made.kind.elementSize))
        var matcher = matcher
        matcher.noteRepetitions(starts.map { matcher.key(of: made.values[$0]) })
        matcher.noteRepetitions(slices.compactMap { $0.first.map { matcher.key(ofStored: $0) } })
        self.slices = slices
        self.made = made
        self.starts = starts
        self.matcher = matcher
    }

    private func elements(_ assumptions: inout EncodedChange.Assumptions) -> [StoredElement] {
        let keys = slices.map { $0.first.map { matcher.key(ofStored: $0) } }
        var positions: [ElementKey: [Int]] = [:]
        for start in starts.reversed() {
            positions[matcher.key(of: made.values[start]), default: []].append(start)
        }
        if isInPlace(keys, positions) {
            return slices.map { StoredElement(before: made.values[$0.indices], stored: $0) }
        }
        var found = keys.map { key in
            key.flatMap { key -> Int? in
                guard let equal = positions[key], let start = equal.last else { return nil }
                // A set has one of several equal elements.
                if equal.count > 1 { positions[key]?.removeLast() }
                return start
            }
        }
        if assumptions.areMade, findCompleted(&found) { assumptions.areUsed = true }
        let skipped = fillGaps(in: &found)
        let size = made.kind.elementSize
        return slices.indices.map { index in
            StoredElement(
                before: found[index].map { made.values[$0..<$0 + size] }, stored: slices[index],
                isSkipped: skipped.contains(index))
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
    /// this is an assumption.
    ///
    /// - Returns: whether any was found.
    private func findCompleted(_ found: inout [Int?]) -> Bool {
        let isList = made.kind == .list
        let taken = Set(found.compactMap(\.self))
        var completed = CompletedElements(
            elements: made.values,
            starts: starts.filter { !taken.contains($0) } + (isList ? [] : taken.sorted()),
            // A set has one of several equal elements.
            isUsedUp: isList)
        var isAnyFound = false
        for (index, slice) in slices.enumerated() where found[index] == nil {
            found[index] = slice.first.flatMap { completed.find($0, matcher) }
            if found[index] != nil { isAnyFound = true }
        }
        return isAnyFound
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
                for (part, start) in zip(index..<end, between) { found[part] = start }
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
