extension Filter {
    /// The `$near` or `$nearSphere` condition of the filter, with its path.
    ///
    /// A query with one returns documents by distance, and MongoDB requires an index for it.
    var nearest: (path: FieldPath, near: GeoNear)? {
        for case .field(let path, .special(.near(let near))) in conjuncts { return (path, near) }
        return nil
    }

    /// The order that the filter implies: by distance, for `$near`.
    package var impliedOrder: SortOrder? {
        guard nearest != nil else { return nil }
        let distance = SortOrder.Key(
            path: .itself, isDescending: false, metadata: "geoNearDistance")
        return SortOrder(keys: [distance])
    }

    /// Whether the filter contains `$near` or `$nearSphere`.
    package var usesNear: Bool { nearest != nil }

    /// Whether the filter contains `$text`.
    package var usesText: Bool { textSearch != nil }

    /// The `$text` condition of the filter.
    package var textSearch: TextSearch? { Self.textSearch(in: predicate) }

    /// The parts that must all hold.
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

    /// Returns the values of `$meta` for a document that passes: its text score and its distance.
    package func metadata(of document: BSONDocument) -> [String: BSONValue] {
        var metadata: [String: BSONValue] = [:]
        if let score = textSearch?.score(of: document) { metadata["textScore"] = .double(score) }
        if let distance = distance(of: document) {
            metadata["geoNearDistance"] = .double(distance)
        }
        return metadata
    }

    /// Returns the least distance of the values at the path of `$near`.
    private func distance(of document: BSONDocument) -> Double? {
        guard let (path, near) = nearest else { return nil }
        return near.distance(in: document, at: path)
    }
}

extension GeoNear {
    /// Returns the least distance of the values at a path; `nil` if none is near enough.
    func distance(in document: BSONDocument, at path: FieldPath) -> Double? {
        nearest(in: document, at: path)?.distance
    }

    /// Returns the nearest of the values at a path; `nil` if none is near enough.
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
        // A pair of coordinates is itself an array, too.
        if let whole = document[path: path.description] { take(whole) }
        document.withUnsafeBytes { bytes in
            PathTraversal.visit(path.parts[...], document: bytes) { value in
                if let value { take(BSONValue(copying: value)) }
            }
        }
        return nearest
    }
}
