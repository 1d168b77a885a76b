/// A generator of wildcard index keys: one for each value at the end of a path, prefixed by the
/// path.
///
/// Array members have the array's path; a nested array is one value. Empty documents and arrays
/// have keys of their own, so that every existing path has a key.
///
/// Source: MongoDB manual, "Wildcard Indexes".
struct WildcardKeyGenerator: Sendable {
    /// The indexed paths.
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
            // The _id is excluded unless it is named.
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

    /// Whether all values of a path and below it are indexed.
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

    /// Whether a value at the end of a path is indexed.
    private func files(_ path: String) -> Bool {
        switch paths {
        case .only(let paths): paths.contains { Self.isPrefix($0, of: path) }
        case .allBut(let paths): !paths.contains { Self.isPrefix($0, of: path) }
        }
    }

    /// Returns the prefix of a path's keys.
    static func prefix(of path: String) -> [UInt8] { BSONKey.encode(.string(path)) }

    /// Returns the keys of a document and whether it has arrays.
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
