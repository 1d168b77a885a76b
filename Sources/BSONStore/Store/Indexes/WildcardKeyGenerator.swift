/// Makes the keys of a wildcard index: each value at the end of a path, filed under the path.
///
/// Members of arrays are filed under the array's path; an array in an array is one value. Empty
/// documents and arrays are filed as such, so that every path that is there has a key.
///
/// Source: MongoDB manual, "Wildcard Indexes".
struct WildcardKeyGenerator: Sendable {
    /// Which paths are filed.
    private enum Paths: Sendable {
        case only([String])
        case allBut([String])
    }

    private let paths: Paths

    /// Reads the field of the key pattern, `$**` or `a.$**`, and the projection.
    init(field: String, projection: BSONDocument?) {
        guard field == "$**" else {
            paths = .only([String(field.dropLast(4))])
            return
        }
        let named = Self.flattened(projection ?? [:], below: "")
        let isInclusion = named.contains { $0.isIncluded && $0.path != "_id" }
        let included = named.filter(\.isIncluded).map(\.path)
        if isInclusion {
            paths = .only(included)
        } else {
            // The _id is left out unless it is asked for.
            let excluded = named.filter { !$0.isIncluded && $0.path != "_id" }.map(\.path)
            paths = .allBut(excluded + (included.contains("_id") ? [] : ["_id"]))
        }
    }

    private static func flattened(
        _ document: BSONDocument, below prefix: String
    ) -> [(path: String, isIncluded: Bool)] {
        document.flatMap { (key, value) -> [(path: String, isIncluded: Bool)] in
            if case .document(let inner) = value {
                return flattened(inner, below: "\(prefix)\(key).")
            }
            return [(prefix + key, PredicateParser.isTrue(value))]
        }
    }

    /// Whether all values of a path, and what lies below it, are filed.
    func covers(_ path: String) -> Bool {
        switch paths {
        case .only(let paths): paths.contains { Self.isPrefix($0, of: path) }
        case .allBut(let paths):
            !paths.contains { Self.isPrefix($0, of: path) || Self.isPrefix(path, of: $0) }
        }
    }

    private static func isPrefix(_ prefix: String, of path: String) -> Bool {
        path == prefix || path.hasPrefix(prefix + ".")
    }

    /// Whether a value at the end of a path is filed.
    private func files(_ path: String) -> Bool {
        switch paths {
        case .only(let paths): paths.contains { Self.isPrefix($0, of: path) }
        case .allBut(let paths): !paths.contains { Self.isPrefix($0, of: path) }
        }
    }

    /// Returns the bytes that the keys of a path begin with.
    static func prefix(of path: String) -> [UInt8] { BSONKey.encode(.string(path)) }

    /// Returns the keys of a document, and whether an array was met.
    func keys(
        of document: BSONDocument, _ collation: Collation?
    ) -> IndexKeyGenerator.Keys {
        var keys = IndexKeyGenerator.Keys()
        collect(document, below: "", collation, &keys)
        return keys
    }

    private func collect(
        _ document: BSONDocument, below prefix: String, _ collation: Collation?,
        _ keys: inout IndexKeyGenerator.Keys
    ) {
        for (key, value) in document {
            let path = prefix + key
            switch value {
            case .document(let inner) where !inner.isEmpty:
                collect(inner, below: path + ".", collation, &keys)
            case .array(let array):
                keys.isMultikey = true
                if array.isEmpty { file(.undefined, path, collation, &keys) }
                for member in array {
                    if case .document(let inner) = member, !inner.isEmpty {
                        collect(inner, below: path + ".", collation, &keys)
                    } else {
                        file(member, path, collation, &keys)
                    }
                }
            default: file(value, path, collation, &keys)
            }
        }
    }

    private func file(
        _ value: BSONValue, _ path: String, _ collation: Collation?,
        _ keys: inout IndexKeyGenerator.Keys
    ) {
        guard files(path) else { return }
        var key = Self.prefix(of: path)
        BSONKey.append(collation?.key(value) ?? value, to: &key)
        keys.keys.append(key)
    }
}
