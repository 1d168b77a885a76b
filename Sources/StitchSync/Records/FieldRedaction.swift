internal import BSONStore

/// The replacement of values by their types in the editions of one conflict.
struct FieldRedaction {
    /// The dotted paths of the values.
    let paths: [String]

    /// Returns the editions without the values; equal values stay equal, and others differ.
    func redacted(_ editions: [BSONDocument?]) -> [BSONDocument?] {
        var editions = editions
        for path in paths {
            let names = path.split(separator: ".").map(String.init)
            guard let first = names.first, !first.hasSameBytes(as: "_id") else { continue }
            var seen: [BSONValue] = []
            editions = editions.map { edition in
                edition.map { redacted($0, names[...], &seen) }
            }
        }
        return editions
    }

    private func redacted(
        _ document: BSONDocument, _ names: ArraySlice<String>, _ seen: inout [BSONValue]
    ) -> BSONDocument {
        guard let name = names.first else { return document }
        var result = BSONDocument()
        for (key, value) in document {
            let isMeant = key.hasSameBytes(as: name)
            result.append(key, isMeant ? redacted(value, names.dropFirst(), &seen) : value)
        }
        return result
    }

    private func redacted(
        _ value: BSONValue, _ names: ArraySlice<String>, _ seen: inout [BSONValue]
    ) -> BSONValue {
        if case .array(let array) = value {
            var elements: [BSONValue] = []
            for element in array { elements.append(redacted(element, names, &seen)) }
            return .array(BSONArray(elements))
        }
        guard names.isEmpty else {
            guard case .document(let document) = value else { return value }
            return .document(redacted(document, names, &seen))
        }
        let known = seen.firstIndex(of: value)
        let place = known ?? seen.count
        if known == nil { seen.append(value) }
        let number = place == 0 ? "" : " \(place + 1)"
        return .string("(\(value.type.alias)\(number))")
    }
}
