/// Access to fields of nested documents, without special treatment of arrays.
enum NestedField {
    /// Returns the value at a path that leads through documents only.
    static func value(_ path: [String], in document: BSONDocument) -> BSONValue? {
        var value: BSONValue = .document(document)
        for part in path {
            guard case .document(let nested) = value, let found = nested[part] else { return nil }
            value = found
        }
        return value
    }

    /// Returns the document with a value at a path, or without one for `nil`; other values on the
    /// path are replaced by documents.
    static func setting(
        _ path: [String], to value: BSONValue?, in document: BSONDocument
    ) -> BSONDocument {
        setting(path[...], to: value, in: document)
    }

    private static func setting(
        _ path: ArraySlice<String>, to value: BSONValue?, in document: BSONDocument
    ) -> BSONDocument {
        guard let key = path.first else { return document }
        var changed = document
        guard path.count > 1 else {
            changed.set(key, to: value)
            return changed
        }
        let nested = document[key]?.documentValue
        if nested == nil, value == nil { return document }
        let inner = setting(path.dropFirst(), to: value, in: nested ?? BSONDocument())
        changed.set(key, to: .document(inner))
        return changed
    }

    /// Returns the values at a path; an array at its end yields its members.
    ///
    /// The path leads through arrays, and positions in it select elements.
    ///
    /// Source: MongoDB manual, "$graphLookup" and "$lookup" for fields that hold arrays.
    static func values(_ path: [String], in document: BSONDocument) -> [BSONValue] {
        var found: [BSONValue] = []
        collect(path[...], .document(document), into: &found)
        return found
    }

    private static func collect(
        _ path: ArraySlice<String>, _ value: BSONValue, into found: inout [BSONValue]
    ) {
        guard let part = path.first else {
            if case .array(let array) = value { found += array.values } else { found.append(value) }
            return
        }
        switch value {
        case .document(let document):
            if let next = document[part] { collect(path.dropFirst(), next, into: &found) }
        case .array(let array):
            if let index = FieldPath.index(part), let element = array[index] {
                collect(path.dropFirst(), element, into: &found)
            }
            for case .document(let document) in array {
                if let next = document[part] { collect(path.dropFirst(), next, into: &found) }
            }
        default: return
        }
    }
}
