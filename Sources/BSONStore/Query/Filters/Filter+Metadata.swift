extension Filter {
    /// What `$near` or `$nearSphere` of the filter asks, with its path.
    ///
    /// A query with one answers by distance, and MongoDB wants an index for it.
    var nearest: (path: FieldPath, near: GeoNear)? {
        for case .field(let path, .special(.near(let near))) in conjuncts { return (path, near) }
        return nil
    }

    /// The order that the filter asks for beside what it finds: by distance, for `$near`.
    var impliedOrder: SortOrder? {
        guard nearest != nil else { return nil }
        let distance = SortOrder.Key(
            path: .itself, isDescending: false, metadata: "geoNearDistance")
        return SortOrder(keys: [distance])
    }

    /// Whether documents are looked for by distance, with `$near`.
    package var usesNear: Bool { nearest != nil }

    /// Whether texts are searched, with `$text`.
    package var usesText: Bool { textSearch != nil }

    /// What `$text` of the filter asks.
    var textSearch: TextSearch? { Self.textSearch(in: predicate) }

    /// The parts of which every one has to hold.
    private var conjuncts: [Predicate] {
        if case .all(let parts) = predicate { parts } else { [predicate] }
    }

    static func textSearch(in predicate: Predicate) -> TextSearch? {
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
    private func distance(of document: BSONDocument) -> Double? {
        guard let (path, near) = nearest else { return nil }
        return near.distance(in: document, at: path)
    }
}

extension GeoNear {
    /// The least distance of the values that a path leads to; `nil` when none is near enough.
    func distance(in document: BSONDocument, at path: FieldPath) -> Double? {
        nearest(in: document, at: path)?.distance
    }

    /// The nearest of the values that a path leads to; `nil` when none is near enough.
    func nearest(
        in document: BSONDocument, at path: FieldPath
    ) -> (distance: Double, value: BSONValue)? {
        var nearest: (distance: Double, value: BSONValue)?
        let take = { (value: BSONValue) in
            guard let distance = distance(to: value) else { return }
            if distance < nearest?.distance ?? .infinity || nearest == nil {
                nearest = (distance, value)
            }
        }
        // The pair of coordinates itself is an array, too.
        if let whole = document[path: path.description] { take(whole) }
        document.withUnsafeBytes { bytes in
            PathTraversal.visit(path.parts[...], document: bytes) { value in
                if let value { take(BSONValue(copying: value)) }
            }
        }
        return nearest
    }
}
