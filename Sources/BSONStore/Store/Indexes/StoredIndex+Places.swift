extension IndexDefinition {
    /// The fields of the index whose places have distances.
    var geoFields: [GeoIndexField] {
        keys.compactMap { key in
            guard case .special(let name) = key.kind,
                let kind = GeoIndexField.Kind(rawValue: name)
            else { return nil }
            return GeoIndexField(path: key.path, kind: kind)
        }
    }
}

extension StoredIndex {
    /// Whether the index can answer the `$near` of a filter.
    func measures(_ filter: Filter) -> Bool {
        guard let (path, near) = filter.nearest, !definition.isHidden,
            isUsable(for: IndexQuery(filter))
        else { return false }
        return definition.geoFields.contains {
            $0.path.hasSameBytes(as: path.description) && near.isMeasured(by: $0.kind)
        }
    }
}
