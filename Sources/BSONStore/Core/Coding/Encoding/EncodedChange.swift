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
    }

    /// Returns the value to store; `nil` where the place stays absent.
    ///
    /// - Parameter places: the place to change, then the same place in other editions, best first.
    static func apply(_ after: MarkedValue, to places: [Place]) -> BSONValue? {
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
            guard !editions.isEmpty else { return after.unmarked }
            return .document(apply(fields, to: editions))
        case .elements(let elements):
            return ElementsChange(elements, places).map { .array($0.apply()) } ?? after.unmarked
        }
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

        init?(_ place: Place) {
            guard case .document(let stored) = place.stored else { return nil }
            self.stored = stored
            if case .fields(let before) = place.before {
                self.before = before
            } else {
                before = nil
            }
        }
    }

    private static func apply(
        _ after: MarkedFields, to editions: [FieldsEdition]
    ) -> BSONDocument {
        let main = editions[0]
        let others = editions.dropFirst().map { edition in
            (edition.before, edition.stored.firstValues)
        }
        func places(_ name: Name, _ stored: BSONValue?) -> [Place] {
            [Place(before: main.before?.values[name], stored: stored)]
                + others.map { Place(before: $0?.values[name], stored: $1[name]) }
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
            let written = apply(value, to: places(name, old)) ?? old
            result.append(key, written)
            seen[name] = BSONDocument([("", written)]) == BSONDocument([("", old)])
        }
        for name in after.order where seen[name] == nil {
            guard let value = after.values[name] else { continue }
            if let written = apply(value, to: places(name, nil)) {
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
}

extension BSONDocument {
    /// The fields by name; of repeated ones the first.
    fileprivate var firstValues: [Name: BSONValue] {
        Dictionary(map { (Name($0), $1) }, uniquingKeysWith: { first, _ in first })
    }
}
