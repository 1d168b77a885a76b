extension Filter {
    /// The `$near` or `$nearSphere` condition of the filter, with its path.
    ///
    /// A query with one returns documents by distance, and MongoDB requires an index for it.
    package var nearest: (path: FieldPath, near: GeoNear)? {
        isExact ? nil : predicate.nearest
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
    package var textSearch: TextSearch? {
        isExact ? nil : Self.textSearch(in: predicate)
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
        return near.nearest(in: document, at: path)?.distance
    }
}

extension Predicate {
    /// The `$near` or `$nearSphere` condition that must hold, with its path.
    var nearest: (path: FieldPath, near: GeoNear)? {
        switch self {
        case .special(.near(let path, let near)): (path, near)
        case .all(let parts): parts.lazy.compactMap(\.nearest).first
        case .any(let parts): parts.count == 1 ? parts[0].nearest : nil
        case .not, .field, .special: nil
        }
    }
}

extension GeoNear {
    /// Returns the nearest of the places at a path; `nil` without any, and if its distance is out
    /// of bounds.
    ///
    /// A value is a place, or a list of places.
    ///
    /// Source: the server's `near.cpp`, `extractGeometries` and `computeGeoNearDistance`.
    func nearest(
        in document: BSONDocument, at path: FieldPath
    ) -> (distance: Double, value: BSONValue)? {
        var nearest: (distance: Double, value: BSONValue)?
        for value in FieldPath.geometries(path.parts[...], document) {
            let isPlace = StoredGeometry(value) != nil
            for place in isPlace ? [value] : value.arrayValue?.values ?? [] {
                if WorkBudget.isOver() { return nil }
                guard let distance = distance(to: place) else { continue }
                if let nearest, nearest.distance <= distance { continue }
                nearest = (distance, place)
            }
        }
        guard let nearest, nearest.distance >= distanceMin, nearest.distance <= distanceMax else {
            return nil
        }
        return nearest
    }
}
