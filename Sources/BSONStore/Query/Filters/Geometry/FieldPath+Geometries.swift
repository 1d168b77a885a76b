extension FieldPath {
    /// Returns the values at a path's end, following arrays on the way; an array at the end is one
    /// value, since a pair of coordinates is an array.
    ///
    /// Source: the server's `extractAllElementsAlongPath` without expanding the trailing array.
    package static func geometries(
        _ path: ArraySlice<String>, _ document: BSONDocument
    ) -> [BSONValue] {
        var values: [BSONValue] = []
        collect(path, document, &values)
        return values
    }

    private static func collect(
        _ path: ArraySlice<String>, _ document: BSONDocument, _ values: inout [BSONValue]
    ) {
        guard let part = path.first, let value = document[part] else { return }
        collect(path.dropFirst(), value, &values)
    }

    private static func collect(
        _ path: ArraySlice<String>, _ value: BSONValue, _ values: inout [BSONValue]
    ) {
        guard let part = path.first else { return values.append(value) }
        switch value {
        case .document(let document): collect(path, document, &values)
        case .array(let array):
            if let position = FieldPath.index(part) {
                guard position < array.count, let element = array[position] else { return }
                return collect(path.dropFirst(), element, &values)
            }
            for element in array {
                if let document = element.documentValue { collect(path, document, &values) }
            }
        default: return
        }
    }
}
