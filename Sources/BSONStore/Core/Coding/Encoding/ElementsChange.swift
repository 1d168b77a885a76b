/// The change of a stored array by the difference of two encodings.
///
/// Each element of the new encoding is compared with the stored element that it came from: the one
/// of the same identity, an equal one of any edition, or the one at the same position where the
/// array kept its length. An element without one is written as it is.
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
    }

    /// The array in one edition.
    private struct Edition {
        var parts: [StoredPart]
        /// The positions of parts by each key by which an element may look for them.
        private var positions: [ElementKey: [Int]] = [:]
        private var used: Set<Int> = []

        init(_ parts: [StoredPart], _ keys: (StoredPart) -> [ElementKey]) {
            self.parts = parts
            for (position, part) in parts.enumerated() {
                for key in keys(part) { positions[key, default: []].append(position) }
            }
            // In order, so that the first is removed in constant time.
            for key in positions.keys { positions[key]?.reverse() }
        }

        func isUsed(_ position: Int) -> Bool { used.contains(position) }

        /// Returns the position of the part that an element came from, and uses the part up.
        mutating func take(_ key: ElementKey, at index: Int) -> Int? {
            guard let found = positions[key] else { return nil }
            // Two elements of one identity say nothing.
            if case .identity = key { return found.count == 1 ? found[0] : nil }
            if found.count > 1, !used.contains(index), parts.indices.contains(index),
                found.contains(index)
            {
                used.insert(index)
                return index
            }
            while let position = positions[key]?.popLast() {
                if used.insert(position).inserted { return position }
            }
            return nil
        }

        /// Returns the position of a part with the key.
        func first(_ key: ElementKey) -> Int? { positions[key]?.last }
    }

    private let after: MarkedElements
    private let partSize: Int
    private var editions: [Edition]

    /// Creates the change; `nil` where no edition has an array.
    init?(_ after: MarkedElements, _ places: [EncodedChange.Place]) {
        let size = after.kind == .pairs ? 2 : 1
        self.after = after
        partSize = size
        let matcher = ElementMatcher(after, places)
        editions = places.compactMap { place in
            guard case .array(let stored) = place.stored else { return nil }
            let parts = Self.parts(Array(stored), place.before, after.kind, matcher)
            return Edition(parts) { part in
                part.before?.first.map { matcher.keys(of: $0) }
                    ?? part.stored.first.map { matcher.keys(ofStored: $0) } ?? []
            }
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
        var positions: [ElementKey: Int] = [:]
        for position in stride(from: 0, to: encoded.count, by: size).reversed() {
            for key in matcher.keys(of: encoded[position]) { positions[key] = position }
        }
        return slices.map { slice in
            let keys = slice.first.map { matcher.keys(ofStored: $0) } ?? []
            let position = keys.lazy.compactMap { positions[$0] }.first
            return StoredPart(
                before: position.map { encoded[$0..<$0 + size] }, stored: slice)
        }
    }
}

// MARK: - Lists

extension ElementsChange {
    private consuming func list() -> [BSONValue] {
        var origins: [[EncodedChange.Place]] = []
        origins.reserveCapacity(after.values.count)
        for (index, value) in after.values.enumerated() {
            let key = ElementKey(value)
            origins.append(
                editions.indices.compactMap { edition in
                    editions[edition].take(key, at: index).map {
                        editions[edition].parts[$0].place(0)
                    }
                })
        }
        if editions[0].parts.count == after.values.count {
            for index in after.values.indices where origins[index].isEmpty {
                let part = editions[0].parts[index]
                guard !editions[0].isUsed(index), !ElementKey(after.values[index]).isIdentity,
                    let before = part.before?.first, !ElementKey(before).isIdentity
                else { continue }
                origins[index] = [part.place(0)]
            }
        }
        return zip(after.values, origins).map { value, places in
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
            wanted[ElementKey(after.values[index])] = index
        }
        var result: [BSONValue] = []
        var written: Set<Int> = []
        for part in editions[0].parts {
            guard let before = part.before?.first, let index = wanted[ElementKey(before)] else {
                continue
            }
            written.insert(index)
            append(index, [part], to: &result)
        }
        for index in stride(from: 0, to: after.values.count, by: partSize)
        where !written.contains(index) {
            let key = ElementKey(after.values[index])
            append(
                index,
                editions.compactMap { edition in edition.first(key).map { edition.parts[$0] } },
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

    init(_ value: MarkedValue) {
        if case .fields(let fields) = value, let identity = fields.identity {
            self = .identity(identity)
        } else {
            self = .content(value.fingerprint)
        }
    }

    var isIdentity: Bool { if case .identity = self { true } else { false } }
}

/// The rules by which the elements of one array are found in its editions.
private struct ElementMatcher {
    /// The fields that the type knows; others of a stored element do not count.
    private var known: Set<Name> = []
    /// The fields that may identify an element, best first.
    private var identityKeys = ["_id", "id"]
    private var holdsExact = false

    init(_ after: MarkedElements, _ places: [EncodedChange.Place]) {
        note(after.values)
        for place in places {
            if case .elements(let before) = place.before { note(before.values) }
        }
    }

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

    /// The keys of an element that the type decoded.
    func keys(of value: MarkedValue) -> [ElementKey] { [ElementKey(value)] }

    /// The keys of a stored element that no encoded one is known of.
    func keys(ofStored value: BSONValue) -> [ElementKey] {
        if holdsExact { return [.content(Fingerprint.of(exact: value))] }
        if case .document(let document) = value {
            for key in identityKeys where known.contains(key) {
                if let identity = document[key], identity != .null {
                    return [.identity(Fingerprint.of(identity, known: nil))]
                }
            }
        }
        return [.content(Fingerprint.of(value, known: known.isEmpty ? nil : known))]
    }
}
