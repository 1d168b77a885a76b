extension Filter {
    /// What `$near` or `$nearSphere` of the filter asks, with its path.
    ///
    /// A query with one answers by distance, and MongoDB wants an index for it.
    var nearest: (path: FieldPath, near: GeoNear)? {
        for case .field(let path, .special(.near(let near))) in conjuncts { return (path, near) }
        return nil
    }

    /// What `$text` of the filter asks.
    var textSearch: TextSearch? { Self.textSearch(in: predicate) }

    /// The parts of which every one has to hold.
    private var conjuncts: [Predicate] {
        if case .all(let parts) = predicate { parts } else { [predicate] }
    }

    private static func textSearch(in predicate: Predicate) -> TextSearch? {
        switch predicate {
        case .all(let parts), .any(let parts): parts.lazy.compactMap { textSearch(in: $0) }.first
        case .special(.text(let search)): search
        case .special, .field, .not: nil
        }
    }

    /// What `$meta` can tell about a document that passes: its text score and its distance.
    func metadata(of document: BSONDocument) -> [String: BSONValue] {
        var metadata: [String: BSONValue] = [:]
        if let score = textSearch?.score(of: document) { metadata["textScore"] = .double(score) }
        if let distance = distance(of: document) {
            metadata["geoNearDistance"] = .double(distance)
        }
        return metadata
    }

    /// The least distance of the values that the path of `$near` leads to.
    func distance(of document: BSONDocument) -> Double? {
        guard let (path, near) = nearest else { return nil }
        return near.distance(in: document, at: path)
    }

    /// The documents by distance when the filter asks for that, else as they come.
    func nearestFirst(_ documents: [BSONDocument]) -> [BSONDocument] {
        guard nearest != nil else { return documents }
        return documents.map { ($0, distance(of: $0) ?? .infinity) }
            .enumerated()
            .sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }
            .map(\.element.0)
    }
}

extension GeoNear {
    /// The least distance of the values that a path leads to; `nil` when none is near enough.
    func distance(in document: BSONDocument, at path: FieldPath) -> Double? {
        var least: Double?
        let take = { (value: BSONValue) in
            if let distance = distance(to: value) { least = min(least ?? distance, distance) }
        }
        // The pair of coordinates itself is an array, too.
        if let whole = document[path: path.description] { take(whole) }
        document.withUnsafeBytes { bytes in
            ValuePath.visit(path.parts[...], document: bytes) { value in
                if let value { take(BSONValue(copying: value)) }
            }
        }
        return least
    }
}
