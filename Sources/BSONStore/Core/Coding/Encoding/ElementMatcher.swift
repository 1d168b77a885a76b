/// The feature by which an element is found.
enum ElementKey: Hashable {
    /// The value of the field that identifies the element.
    case identity([UInt8])
    /// The whole value.
    case content([UInt8])

    var isIdentity: Bool { if case .identity = self { true } else { false } }
}

/// The rules by which the elements of one array are found in its editions.
struct ElementMatcher {
    /// The fields that the type knows; others of a stored element do not count.
    private var known: Set<Name> = []
    /// The fields that may identify an element, best first.
    private var identityKeys = ["_id", "id"]
    private var holdsExact = false
    /// The identities that several elements have, which are found by their content instead.
    private var repeated: Set<ElementKey> = []

    init(_ after: MarkedElements, _ places: [EncodedChange.Place]) {
        note(after.values)
        for place in places {
            if case .elements(let before) = place.before { note(before.values) }
        }
        noteRepetitions(after.starts.map { key(of: after.values[$0]) })
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
