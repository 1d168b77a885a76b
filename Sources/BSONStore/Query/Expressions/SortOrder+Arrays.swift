extension SortOrder {
    /// The error for two keys that lead through different arrays; MongoDB sorts by one only.
    struct ParallelArrays: Error {}

    /// Returns the bytes of the least combination of values, each from one member of the array that
    /// several keys lead through; `nil` if no two keys share an array.
    ///
    /// - Throws: an error if the keys lead through different arrays.
    func arrayKey(of document: BSONDocument) throws(ParallelArrays) -> [UInt8]? {
        guard keys.count > 1 else { return nil }
        let fields = keys.enumerated().filter { $0.element.metadata == nil }
            .map { Field(place: $0.offset, parts: $0.element.path.parts[...]) }
        guard keys.count == fields.count else { return nil }
        let tuples = try Self.tuples(fields, document)
        guard tuples.count > 1 else { return nil }
        return tuples.map { joined($0) }.min { $0.lexicographicallyPrecedes($1) }
    }

    /// Whether two keys lead through arrays, which may be the same.
    func hasTwoArrays(in document: BSONDocument) -> Bool {
        guard keys.count > 1 else { return false }
        let arrays = keys.count { key in
            guard key.metadata == nil,
                case .array = Self.end(of: key.path.parts[...], in: document)
            else { return false }
            return true
        }
        return arrays > 1
    }

    private func joined(_ tuple: [Int: BSONValue]) -> [UInt8] {
        keys.indices.flatMap { place in
            let value = tuple[place] ?? .null
            let bytes = BSONKey.encode(collation?.key(value) ?? value)
            return keys[place].isDescending ? bytes.map { ~$0 } : bytes
        }
    }

    /// The rest of a key's path, and the key's number.
    private struct Field {
        let place: Int
        var parts: ArraySlice<String>
    }

    /// The end of a path, followed without entering an array.
    private enum End {
        case value(BSONValue)
        case array(BSONArray, at: [String], rest: ArraySlice<String>)
    }

    /// Returns all combinations of values, by key; missing ones are null.
    private static func tuples(
        _ fields: [Field], _ document: BSONDocument
    ) throws(ParallelArrays) -> [[Int: BSONValue]] {
        var fixed: [Int: BSONValue] = [:]
        var inside: [Field] = []
        var array: (values: BSONArray, path: [String])?
        for field in fields {
            switch end(of: field.parts, in: document) {
            case .value(let value): fixed[field.place] = value
            case .array(let values, let path, let rest):
                guard array == nil || array?.path == path else { throw ParallelArrays() }
                array = (values, path)
                inside.append(Field(place: field.place, parts: rest))
            }
        }
        guard let array else { return [fixed] }
        var tuples: [[Int: BSONValue]] = []
        for member in array.values {
            for tuple in try self.tuples(inside, member: member) {
                tuples.append(fixed.merging(tuple) { $1 })
            }
        }
        guard tuples.isEmpty else { return tuples }
        // At the end of a path, an empty array sorts before null.
        for field in inside { fixed[field.place] = field.parts.isEmpty ? .undefined : .null }
        return [fixed]
    }

    private static func tuples(
        _ fields: [Field], member: BSONValue
    ) throws(ParallelArrays) -> [[Int: BSONValue]] {
        var fixed: [Int: BSONValue] = [:]
        for field in fields where field.parts.isEmpty { fixed[field.place] = member }
        let deeper = fields.filter { !$0.parts.isEmpty }
        guard let document = member.documentValue, !deeper.isEmpty else {
            for field in deeper { fixed[field.place] = .null }
            return [fixed]
        }
        return try tuples(deeper, document).map { $0.merging(fixed) { $1 } }
    }

    private static func end(of parts: ArraySlice<String>, in document: BSONDocument) -> End {
        var value = BSONValue.document(document)
        var rest = parts
        while true {
            switch value {
            case .array(let array):
                if let part = rest.first, let index = FieldPath.index(part),
                    let member = array[index]
                {
                    value = member
                    rest = rest.dropFirst()
                    // An array that is named by its position counts as a single value.
                    if rest.isEmpty { return .value(member) }
                    continue
                }
                return .array(array, at: Array(parts[..<rest.startIndex]), rest: rest)
            case .document(let document) where !rest.isEmpty:
                guard let part = rest.first, let next = document[part] else { return .value(.null) }
                value = next
                rest = rest.dropFirst()
            default: return .value(rest.isEmpty ? value : .null)
            }
        }
    }
}
