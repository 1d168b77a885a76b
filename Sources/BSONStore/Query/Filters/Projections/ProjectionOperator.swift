/// An operator on the chosen fields: `$slice` and the positional `$`.
enum ProjectionOperator: Sendable {
    /// Keeps a part of the arrays at a path.
    case slice([String], ProjectionSlice)
    /// Keeps the element of the first array on the path that the filter matched.
    case positional([String])

    /// Whether the operator requires the filter that found the document.
    var isPositional: Bool {
        switch self {
        case .slice: false
        case .positional: true
        }
    }

    /// Changes a chosen field.
    ///
    /// - Throws: 51246 and 51247 if the filter determines no element.
    func apply(
        to result: inout EditedDocument, of document: BSONDocument, _ filter: Filter
    ) throws(StoreError) {
        switch self {
        case .slice(let path, let slice):
            guard let key = path.first, let value = result.value(of: key),
                let cut = slice.cut(value, path.dropFirst())
            else { return }
            result.set(key, to: cut)
        case .positional(let path):
            guard let key = path.first, let value = result.value(of: key) else { return }
            let matched = try Self.matched(path.dropFirst(), in: value) {
                PositionalOperator.find(in: document, filter)
            }
            if let matched { result.set(key, to: matched) }
        }
    }

    /// Returns the value with the only element of its first array on a path; `nil` if there is no
    /// array.
    private static func matched(
        _ path: ArraySlice<String>, in value: BSONValue, _ position: () -> Int?
    ) throws(StoreError) -> BSONValue? {
        switch value {
        case .array(let array):
            guard let position = position() else {
                try WorkBudget.check()
                throw StoreError(
                    .positionalElementNotFound,
                    "positional operator '.$' couldn't find a matching element in the array")
            }
            guard let element = array[position] else {
                throw StoreError(
                    .positionalElementMismatch, "positional operator '.$' element mismatch")
            }
            return .array([element])
        case .document(var inner):
            guard let key = path.first, let next = inner[key],
                let changed = try matched(path.dropFirst(), in: next, position)
            else { return nil }
            inner[key] = changed
            return .document(inner)
        default: return nil
        }
    }
}

/// The part of an array to keep.
struct ProjectionSlice: Sendable, Hashable {
    /// The number of elements to skip, from the end if negative; `nil` if only a limit was given.
    let skip: Int?
    /// The maximum number to keep; without a skip, the last ones if negative.
    let limit: Int

    /// Returns the value with the arrays at a path sliced; the path may lead through arrays, but
    /// not through arrays in arrays; `nil` if nothing changes.
    func cut(_ value: BSONValue, _ path: ArraySlice<String>) -> BSONValue? {
        switch value {
        case .array(let array): .array(path.isEmpty ? cut(array) : inside(array, path))
        case .document(let inner): path.isEmpty ? nil : .document(cut(inner, path))
        default: nil
        }
    }

    private func cut(_ document: BSONDocument, _ path: ArraySlice<String>) -> BSONDocument {
        guard let key = path.first, let value = document[key],
            let cut = cut(value, path.dropFirst())
        else { return document }
        var result = document
        result[key] = cut
        return result
    }

    private func inside(_ array: BSONArray, _ path: ArraySlice<String>) -> BSONArray {
        BSONArray(
            array.map { element in
                guard case .document(let document) = element else { return element }
                return .document(cut(document, path))
            })
    }

    private func cut(_ array: BSONArray) -> BSONArray {
        let values = array.values
        guard let skip else {
            return BSONArray(limit < 0 ? values.suffix(-limit) : values.prefix(limit))
        }
        let start = skip < 0 ? max(0, values.count + skip) : min(skip, values.count)
        return BSONArray(values[start...].prefix(limit))
    }
}
