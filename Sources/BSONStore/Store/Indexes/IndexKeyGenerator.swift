/// A generator of a document's index keys, as in MongoDB.
///
/// A missing field counts as null, an empty array at a path's end as undefined. Where a path
/// crosses an array, each element gives a key; the fields of a compound index may cross only one
/// and the same array.
///
/// Source: the server's `btree_key_generator.cpp`; MongoDB manual, "Multikey Indexes".
struct IndexKeyGenerator: Sendable {
    /// The distinct keys of one document.
    struct Keys {
        var keys: [[UInt8]] = []
        /// The values of each key by field; only collected for ``IndexKeyGenerator/entries(of:)``.
        var values: [[BSONValue]]?
        /// Whether a path met an array.
        var isMultikey = false

        /// The keys with their values, where those were collected.
        var entries: [(key: [UInt8], values: [BSONValue])] {
            zip(keys, values ?? []).map { ($0, $1) }
        }

        /// The keys in order, without duplicates.
        var sorted: Keys {
            guard keys.count > 1 else { return self }
            var sorted = self
            sorted.keys.sort { WorkBudget.isOver() ? false : $0.lexicographicallyPrecedes($1) }
            var last: [UInt8]?
            sorted.keys.removeAll { key in
                defer { last = key }
                return key == last
            }
            return sorted
        }
    }

    private let paths: [[String]]
    /// The path components as bytes.
    private let parts: [[[UInt8]]]
    /// Whether a document without arrays on the paths has one key, encoded value by value.
    private let isPlain: Bool
    private let kinds: [IndexDefinition.Kind]
    private let isSparse: Bool
    private let collation: Collation?
    /// Whether a path may lead to a position in an array.
    let hasPositions: Bool
    /// Whether positions that are also names are refused.
    private var isChecking = false

    /// Makes the generator of an ascending index of the paths.
    fileprivate init(ascending paths: [String], _ collation: Collation?) {
        self.collation = collation
        self.paths = paths.map(\.dottedParts)
        parts = self.paths.map { $0.map { Array($0.utf8) } }
        kinds = paths.map { _ in .ascending }
        (isPlain, isSparse, hasPositions) = (collation == nil, false, false)
    }

    init(_ definition: IndexDefinition, _ collation: Collation?) {
        self.collation = collation
        paths = definition.keys.map {
            $0.path.dottedParts
        }
        parts = paths.map { $0.map { Array($0.utf8) } }
        kinds = definition.keys.map(\.kind)
        isPlain =
            collation == nil && kinds.allSatisfy { $0 == .ascending || $0 == .descending }
        isSparse = definition.isSparse
        hasPositions = paths.contains { path in
            path.dropFirst().contains { FieldPath.index($0) != nil }
        }
    }

    /// Throws if a position in an array is also a field of one of its documents.
    ///
    /// - Throws: 16746, and as ``keys(of:)`` does.
    func checkPositions(of document: BSONDocument) throws(StoreError) {
        guard hasPositions else { return }
        var checking = self
        checking.isChecking = true
        _ = try checking.keys(of: document)
    }

    /// One field while its path is followed.
    private enum Component {
        case open(ArraySlice<String>)
        case value(BSONRawValue)
        case missing
        case emptyArray
    }

    /// The array at which a path stopped.
    private struct Stop {
        let component: Int
        let array: BSONRawValue
        let rest: ArraySlice<String>
    }

    /// Returns the keys of a document.
    ///
    /// - Throws: 171 (CannotIndexParallelArrays) with MongoDB's message.
    func keys(of document: BSONDocument) throws(StoreError) -> Keys {
        try document.withUnsafeBytes { (bytes) throws(StoreError) in
            if isPlain, let keys = plainKeys(of: bytes) { return keys }
            var keys = Keys()
            try collect(paths.map { .open($0[...]) }, bytes, &keys)
            let sorted = keys.sorted
            try WorkBudget.check()
            return sorted
        }
    }

    /// Returns the keys of a document with the values that they stand for, in the order of the document.
    ///
    /// - Throws: as ``keys(of:)`` does.
    func entries(
        of document: BSONDocument
    ) throws(StoreError) -> [(key: [UInt8], values: [BSONValue])] {
        try document.withUnsafeBytes { (bytes) throws(StoreError) in
            var keys = Keys(values: [])
            try collect(paths.map { .open($0[...]) }, bytes, &keys)
            return keys.entries
        }
    }

    /// Returns the key of a document without arrays on the paths; `nil` for other documents.
    private func plainKeys(of document: UnsafeRawBufferPointer) -> Keys? {
        var key: [UInt8] = []
        key.reserveCapacity(24)
        var isMissing = true
        for index in kinds.indices {
            let start = key.count
            if let value = Self.value(at: parts[index], in: document) {
                guard value.typeByte != BSONType.array.rawValue else { return nil }
                isMissing = false
                BSONKey.append(value, to: &key)
            } else {
                BSONKey.append(.null, to: &key)
            }
            if kinds[index] == .descending {
                for at in start..<key.count { key[at] = ~key[at] }
            }
        }
        return isSparse && isMissing ? Keys() : Keys(keys: [key])
    }

    /// Returns the value at a path, or the first array on it; `nil` when the path does not exist.
    private static func value(
        at path: [[UInt8]], in document: UnsafeRawBufferPointer
    ) -> BSONRawValue? {
        var place = document
        for (depth, part) in path.enumerated() {
            var cursor = BSONCursor(place)
            guard let found = part.withUnsafeBytes({ cursor.next(withKey: $0) }) else { return nil }
            let isArray = found.typeByte == BSONType.array.rawValue
            if isArray || depth == path.count - 1 { return found }
            guard found.typeByte == BSONType.document.rawValue else { return nil }
            place = found.bytes
        }
        return nil
    }

    private func collect(
        _ components: [Component], _ document: UnsafeRawBufferPointer?, _ keys: inout Keys
    ) throws(StoreError) {
        var components = components
        var stops: [Stop] = []
        for index in components.indices {
            guard case .open(let path) = components[index] else { continue }
            guard let document else {
                components[index] = .missing
                continue
            }
            if let stop = try follow(path, document, index, &components[index]) {
                stops.append(stop)
            }
        }
        guard let first = stops.first else { return emit(components, &keys) }
        keys.isMultikey = true
        if stops.contains(where: { kinds[$0.component] == .special("hashed") }) {
            throw StoreError(
                .arrayInHashedIndex,
                "Error: hashed indexes do not currently support array values")
        }
        for other in stops.dropFirst() where other.array.start != first.array.start {
            throw parallel(first, other)
        }
        try expand(first.array, stops, components, &keys)
    }

    /// Follows a path until its end, a missing field, or an array.
    private func follow(
        _ path: ArraySlice<String>, _ document: UnsafeRawBufferPointer, _ index: Int,
        _ component: inout Component
    ) throws(StoreError) -> Stop? {
        var path = path
        var place = document
        while let part = path.first {
            path = path.dropFirst()
            guard var found = Self.find(part, in: place) else { break }
            while found.typeByte == BSONType.array.rawValue {
                guard let next = path.first, let position = FieldPath.index(next) else {
                    return Stop(component: index, array: found, rest: path)
                }
                var cursor = BSONCursor(found)
                guard let element = cursor.skip(to: position) else {
                    return Stop(component: index, array: found, rest: path)
                }
                if isChecking { try Self.refuse(next, alsoIn: found) }
                found = element
                path = path.dropFirst()
            }
            if path.isEmpty {
                component = .value(found)
                return nil
            }
            guard found.typeByte == BSONType.document.rawValue else { break }
            place = found.bytes
        }
        component = .missing
        return nil
    }

    /// Throws if a position in an array is also a field of one of its documents.
    ///
    /// - Throws: 16746.
    private static func refuse(
        _ position: String, alsoIn array: BSONRawValue
    ) throws(StoreError) {
        var cursor = BSONCursor(array)
        while let element = cursor.next() {
            try WorkBudget.spend()
            guard element.value.typeByte == BSONType.document.rawValue,
                find(position, in: element.value.bytes) != nil
            else { continue }
            throw .location(
                16746,
                "Ambiguous field name found in array (do not use numeric field names in embedded "
                    + "elements in an array), field: '\(position)' for array: "
                    + ShellText.text(of: BSONValue(copying: array)))
        }
    }

    private static func find(
        _ key: String, in document: UnsafeRawBufferPointer
    ) -> BSONRawValue? {
        var cursor = BSONCursor(document)
        while let element = cursor.next() {
            if key.utf8.elementsEqual(element.key) { return element.value }
        }
        return nil
    }

    private func expand(
        _ array: BSONRawValue, _ stops: [Stop], _ components: [Component], _ keys: inout Keys
    ) throws(StoreError) {
        var cursor = BSONCursor(array)
        var isEmpty = true
        while let element = cursor.next() {
            try WorkBudget.spend()
            isEmpty = false
            var inner = components
            for stop in stops {
                inner[stop.component] = stop.rest.isEmpty ? .value(element.value) : .open(stop.rest)
            }
            let isDocument = element.value.typeByte == BSONType.document.rawValue
            try collect(inner, isDocument ? element.value.bytes : nil, &keys)
        }
        guard isEmpty else { return }
        var inner = components
        for stop in stops {
            inner[stop.component] = stop.rest.isEmpty ? .emptyArray : .missing
        }
        emit(inner, &keys)
    }

    private func emit(_ components: [Component], _ keys: inout Keys) {
        if isSparse {
            let isMissing = components.allSatisfy { component in
                if case .missing = component { true } else { false }
            }
            if isMissing { return }
        }
        var key: [UInt8] = []
        key.reserveCapacity(24)
        for (component, kind) in zip(components, kinds) {
            let start = key.count
            switch component {
            case .value(let value):
                let value = BSONValue(copying: value)
                BSONKey.append(collation?.key(value) ?? value, to: &key)
            case .missing, .open: BSONKey.append(.null, to: &key)
            case .emptyArray: BSONKey.append(.undefined, to: &key)
            }
            switch kind {
            case .ascending: continue
            case .descending: for at in start..<key.count { key[at] = ~key[at] }
            case .special:
                let hash = Self.hash(key[start...])
                key.removeSubrange(start...)
                BSONKey.append(hash, to: &key)
            }
        }
        keys.keys.append(key)
        keys.values?.append(components.map(Self.shown))
    }

    /// Returns the value that a component of a key stands for.
    private static func shown(_ component: Component) -> BSONValue {
        switch component {
        case .value(let value): BSONValue(copying: value)
        case .missing, .open: .null
        case .emptyArray: .undefined
        }
    }

    private func parallel(_ first: Stop, _ other: Stop) -> StoreError {
        func name(_ stop: Stop) -> String {
            let path = paths[stop.component]
            return path[path.count - stop.rest.count - 1]
        }
        return StoreError(
            .cannotIndexParallelArrays,
            "cannot index parallel arrays [\(name(other))] [\(name(first))]")
    }

    // MARK: - Hashes

    /// Returns the hash by which a hashed index stores a value's key: FNV-1a.
    private static func hash(_ key: some Sequence<UInt8>) -> BSONValue {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return .int64(Int64(bitPattern: hash))
    }

    /// Returns bounds of hashes for bounds of values; `nil` unless they are single values.
    static func hashed(_ bounds: IndexBounds) -> IndexBounds? {
        guard bounds.arePoints else { return nil }
        return IndexBounds.union(
            bounds.intervals.compactMap(\.point).map { key in
                let hash = hash(key)
                return IndexBounds(
                    [IndexBounds.Interval(point: BSONKey.encode(hash), of: hash)], isExact: false)
            })
    }
}

extension BSONDocument {
    /// Returns the distinct keys that an ascending index of the paths has for the document; none where two
    /// of the paths cross different arrays, since no index can hold such a document.
    ///
    /// - Parameter collation: the index's comparison of texts; `nil` for bytes.
    package func indexKeys(_ paths: [String], _ collation: Collation? = nil) -> [[UInt8]] {
        do {
            return try IndexKeyGenerator(ascending: paths, collation).keys(of: self).keys
        } catch {
            return []
        }
    }
}
