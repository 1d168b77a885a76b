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

    /// Returns the result of the operator.
    ///
    /// - Throws: 51246 and 51247 if the filter determines no element.
    func apply(
        to result: BSONDocument, of document: BSONDocument, _ filter: Filter
    ) throws(StoreError) -> BSONDocument {
        switch self {
        case .slice(let path, let slice): return slice.apply(to: result, path[...])
        case .positional(let path):
            return try Self.matched(path[...], in: result) {
                PositionalOperator.find(in: document, filter)
            }
        }
    }

    private static func matched(
        _ path: ArraySlice<String>, in result: BSONDocument, _ position: () -> Int?
    ) throws(StoreError) -> BSONDocument {
        guard let key = path.first else { return result }
        var result = result
        switch result[key] {
        case .array(let array):
            guard let position = position() else {
                throw StoreError(
                    .positionalElementNotFound,
                    "positional operator '.$' couldn't find a matching element in the array")
            }
            guard let element = array[position] else {
                throw StoreError(
                    .positionalElementMismatch, "positional operator '.$' element mismatch")
            }
            result[key] = .array([element])
        case .document(let inner):
            result[key] = .document(try matched(path.dropFirst(), in: inner, position))
        default: break
        }
        return result
    }
}

/// The part of an array to keep.
struct ProjectionSlice: Sendable, Hashable {
    /// The number of elements to skip, from the end if negative; `nil` if only a limit was given.
    let skip: Int?
    /// The maximum number to keep; without a skip, the last ones if negative.
    let limit: Int

    /// Returns the document with the arrays at a path sliced; the path may lead through arrays, but
    /// not through arrays in arrays.
    func apply(to document: BSONDocument, _ path: ArraySlice<String>) -> BSONDocument {
        guard let key = path.first, let value = document[key] else { return document }
        let rest = path.dropFirst()
        var result = document
        switch value {
        case .array(let array):
            result[key] = .array(rest.isEmpty ? cut(array) : inside(array, rest))
        case .document(let inner):
            if !rest.isEmpty { result[key] = .document(apply(to: inner, rest)) }
        default: break
        }
        return result
    }

    private func inside(_ array: BSONArray, _ path: ArraySlice<String>) -> BSONArray {
        BSONArray(
            array.map { element in
                guard case .document(let document) = element else { return element }
                return .document(apply(to: document, path))
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
