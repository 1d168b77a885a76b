/// The change of a stored value by the difference of two encodings.
///
/// A value that is equal in both encodings keeps its stored bytes, or stays absent. The rest takes
/// the new encoding, part by part.
enum EncodedChange {
    /// One place of one edition: its encoding by the type, and its stored value.
    struct Place {
        /// The value's encoding; `nil` where the type saw no value.
        let before: MarkedValue?
        /// The stored value; `nil` where the edition has none.
        let stored: BSONValue?
        /// Reads what the type would make of another value in this place.
        let reading: Reading
    }

    /// A way to ask the type's decoder what it makes of a value in one place of a document.
    struct Reading {
        /// Returns the value's encoding by the type; `nil` where the document does not decode.
        let read: (BSONValue) -> MarkedValue?

        /// Returns the way to ask about a field of a document that is stored in this place.
        func field(_ name: Name, of stored: BSONDocument) -> Reading {
            Reading { value in
                var document = stored
                document[name.text] = value
                guard case .fields(let fields)? = read(.document(document)) else { return nil }
                return fields.values[name]
            }
        }

        /// Returns the way to ask about a value of an element of an array in this place, which is
        /// read as the only element.
        func element(_ offset: Int, of stored: ArraySlice<BSONValue>) -> Reading {
            Reading { value in
                var element = Array(stored)
                element[offset] = value
                return elements(element)?.values[offset]
            }
        }

        /// Returns what the type makes of an array with one element; `nil` where it skips that.
        func elements(_ element: [BSONValue]) -> MarkedElements? {
            guard case .elements(let made)? = read(.array(BSONArray(element))),
                made.values.count == element.count
            else { return nil }
            return made
        }
    }

    /// Assumptions about the type's decoder, which only the decoding of the result confirms.
    struct Assumptions {
        /// What the decoder is assumed to do.
        struct Kinds: OptionSet {
            let rawValue: UInt8

            /// The decoder completes a document by the defaults of fields that are missing, so that a
            /// default which is not stored needs only its changed fields.
            static let defaults = Self(rawValue: 1)
            /// The decoder skips elements of an array that it does not know.
            static let skipping = Self(rawValue: 2)
            /// The decoder completes elements of a list, so that one is found by those fields that are
            /// stored.
            static let completingLists = Self(rawValue: 4)
            /// The decoder completes elements of a set or dictionary alike.
            static let completingSets = Self(rawValue: 8)

            static let completing: Self = [.completingLists, .completingSets]
            static let all: Self = [.defaults, .skipping, .completing]

            /// All smaller sets, larger ones first.
            var properSubsets: [Self] {
                (0..<rawValue).map { Self(rawValue: $0) }.filter { $0.isSubset(of: self) }
                    .sorted { $0.rawValue.nonzeroBitCount > $1.rawValue.nonzeroBitCount }
            }
        }

        /// The assumptions to make.
        let made: Kinds
        /// Those on which the result depends.
        private(set) var used: Kinds = []
        /// The number of elements about which the decoder may still be asked; each question decodes the
        /// document.
        var questions = 64

        init(_ made: Kinds) { self.made = made }

        /// Whether the assumption may be made; the result depends on it then.
        @discardableResult
        mutating func use(_ kind: Kinds) -> Bool {
            guard made.contains(kind) else { return false }
            used.insert(kind)
            return true
        }
    }

    /// Returns the value to store; `nil` where the place stays absent.
    ///
    /// - Parameter places: the place to change, then the same place in other editions, best first.
    static func apply(
        _ after: MarkedValue, to places: [Place], _ assumptions: inout Assumptions
    ) -> BSONValue? {
        if let place = places.first, place.before?.isSame(as: after) == true {
            // Without a stored value it is a default of the type, which no program stored.
            return place.stored
        }
        switch after {
        case .exact(let value): return value
        case .single(let value):
            if let place = places.first, place.before == nil, let stored = place.stored,
                isSameNumber(value, stored)
            {
                return stored
            }
            // Another edition may hold the value in the form of another program.
            let equal = places.dropFirst().first { $0.before?.isSame(as: after) == true }
            return equal?.stored ?? value
        case .fields(let fields):
            let editions = places.compactMap { FieldsEdition($0) }
            if editions.isEmpty, assumptions.made.contains(.defaults), let place = places.first,
                let part = difference(fields, place, &assumptions),
                assumptions.use(.defaults)
            {
                return .document(part)
            }
            // Another case of an enum replaces the stored one, which may be unknown here.
            let ofCase = editions.filter { !fields.isAnotherCase(than: $0.before, $0.stored) }
            guard !ofCase.isEmpty else { return after.unmarked }
            return .document(apply(fields, to: ofCase, &assumptions))
        case .elements(let elements):
            guard let change = ElementsChange(elements, places, &assumptions) else {
                return after.unmarked
            }
            return .array(change.apply(&assumptions))
        }
    }

    /// Returns the fields that differ from a default that is not stored; `nil` where it is no
    /// default, or where fields of it went.
    private static func difference(
        _ after: MarkedFields, _ place: Place, _ assumptions: inout Assumptions
    ) -> BSONDocument? {
        guard place.stored == nil || place.stored == .null,
            case .fields(let before)? = place.before,
            before.order.allSatisfy({ after.values[$0] != nil })
        else { return nil }
        var result = BSONDocumentBuilder(reservingBytes: 64)
        for name in after.order {
            guard let value = after.values[name] else { continue }
            let field = Place(
                before: before.values[name], stored: nil,
                reading: place.reading.field(name, of: BSONDocument()))
            if let written = apply(value, to: [field], &assumptions) {
                result.append(name.text, written)
            }
        }
        return result.finish()
    }

    /// Whether two values are the same number in two widths.
    private static func isSameNumber(_ fresh: BSONValue, _ old: BSONValue) -> Bool {
        fresh.type != old.type && isNumber(fresh.type) && isNumber(old.type)
            && BSONOrder.compare(fresh, old) == .equal
    }

    private static func isNumber(_ type: BSONType) -> Bool {
        type == .double || type == .int32 || type == .int64 || type == .decimal128
    }

    /// A document in one edition.
    private struct FieldsEdition {
        let before: MarkedFields?
        let stored: BSONDocument
        let reading: Reading

        init?(_ place: Place) {
            guard case .document(let stored) = place.stored else { return nil }
            self.stored = stored
            reading = place.reading
            if case .fields(let before) = place.before {
                self.before = before
            } else {
                before = nil
            }
        }

        func place(_ name: Name, _ value: BSONValue?) -> Place {
            Place(
                before: before?.values[name], stored: value,
                reading: reading.field(name, of: stored))
        }
    }

    private static func apply(
        _ after: MarkedFields, to editions: [FieldsEdition], _ assumptions: inout Assumptions
    ) -> BSONDocument {
        let main = editions[0]
        let others = editions.dropFirst().map { ($0, $0.stored.firstValues) }
        func places(_ name: Name, _ stored: BSONValue?) -> [Place] {
            [main.place(name, stored)] + others.map { $0.place(name, $1[name]) }
        }
        var result = BSONDocumentBuilder(reservingBytes: main.stored.byteCount + 64)
        var seen: [Name: Bool] = [:]
        for (key, old) in main.stored {
            let name = Name(key)
            // Of a repeated key, decoders read the first; the others stay unless that one changes.
            if let keepsOthers = seen[name] {
                if keepsOthers { result.append(key, old) }
                continue
            }
            guard let value = after.values[name] else {
                let stays = !after.removes(name, from: main.before)
                if stays { result.append(key, old) }
                seen[name] = stays
                continue
            }
            let written = apply(value, to: places(name, old), &assumptions) ?? old
            result.append(key, written)
            seen[name] = BSONDocument([("", written)]) == BSONDocument([("", old)])
        }
        for name in after.order where seen[name] == nil {
            guard let value = after.values[name] else { continue }
            if let written = apply(value, to: places(name, nil), &assumptions) {
                result.append(name.text, written)
            }
        }
        return result.finish()
    }
}

extension MarkedFields {
    /// Whether the value has no field where the document has one, and knows that field.
    fileprivate func removes(_ name: Name, from before: MarkedFields?) -> Bool {
        guard let before else { return isDictionary || omitted.contains(name) }
        return before.values[name] != nil
    }

    /// Whether the value is a case of an enum that neither the former value nor, where that is
    /// unknown, the document has.
    fileprivate func isAnotherCase(than before: MarkedFields?, _ stored: BSONDocument) -> Bool {
        guard isEnumeration, order.count == 1 else { return false }
        if let before { return before.values[order[0]] == nil }
        return !stored.contains { Name($0.key) == order[0] }
    }
}

extension BSONDocument {
    /// The fields by name; of repeated ones the first.
    fileprivate var firstValues: [Name: BSONValue] {
        Dictionary(map { (Name($0), $1) }, uniquingKeysWith: { first, _ in first })
    }
}
