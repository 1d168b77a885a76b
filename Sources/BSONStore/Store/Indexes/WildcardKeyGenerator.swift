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
        case only(PathSet)
        case allBut(PathSet)
    }

    /// Paths that are looked up by their beginnings.
    struct PathSet: Sendable {
        private let paths: Set<Name>
        /// The paths that lead to others.
        private let through: Set<Name>

        init(_ paths: [String]) {
            self.paths = Set(names: paths)
            through = Set(names: paths.flatMap { Self.beginnings(of: $0).dropLast() })
        }

        /// Whether a path is one of these or lies below one.
        func covers(_ path: String) -> Bool {
            Self.beginnings(of: path).contains { paths.contains($0) }
        }

        /// Whether one of these lies below a path.
        func leads(through path: String) -> Bool { through.contains(path) }

        /// Returns the path up to each dot, and the path.
        private static func beginnings(of path: String) -> [String] {
            path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: ".") }
                .map { String(Substring(path.utf8[..<$0])) } + [path]
        }
    }

    private let paths: Paths

    /// Reads the field of the key pattern, `$**` or `a.$**`, and the projection.
    init(field: String, projection: BSONDocument?) {
        guard field == "$**" else {
            paths = .only(PathSet([field.droppingLastBytes(4)]))
            return
        }
        let named = Self.flattened(projection ?? [:], below: "")
        let isInclusion = named.contains { $0.isIncluded && $0.path != "_id" }
        let included = named.filter(\.isIncluded).map(\.path)
        if isInclusion {
            paths = .only(PathSet(included))
        } else {
            // The _id is excluded unless it is named.
            let excluded = named.filter { !$0.isIncluded && $0.path != "_id" }.map(\.path)
            paths = .allBut(PathSet(excluded + (included.contains("_id") ? [] : ["_id"])))
        }
    }

    /// Returns the paths that a projection names.
    static func flattened(
        _ document: BSONDocument, below prefix: String = ""
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
        case .only(let paths): paths.covers(path)
        case .allBut(let paths): !paths.covers(path) && !paths.leads(through: path)
        }
    }

    /// Whether a value at the end of a path is indexed.
    func files(_ path: String) -> Bool {
        switch paths {
        case .only(let paths): paths.covers(path)
        case .allBut(let paths): !paths.covers(path)
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

    /// Returns the keys of a document with the paths and values that they stand for.
    func entries(
        of document: BSONDocument, _ collation: Collation?
    ) -> [(key: [UInt8], values: [BSONValue])] {
        var keys = IndexKeyGenerator.Keys(values: [])
        collect(document, below: "", collation, &keys)
        return keys.entries
    }

    private func collect(
        _ document: BSONDocument, below prefix: String, _ collation: Collation?,
        _ keys: inout IndexKeyGenerator.Keys
    ) {
        for (key, value) in document {
            _ = WorkBudget.isOver()
            let path = prefix + key
            switch value {
            case .document(let inner) where !inner.isEmpty:
                collect(inner, below: path + ".", collation, &keys)
            case .array(let array):
                keys.isMultikey = true
                if array.isEmpty { file(.undefined, path, collation, &keys) }
                for member in array {
                    _ = WorkBudget.isOver()
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
        keys.values?.append([.string(path), value])
    }
}
