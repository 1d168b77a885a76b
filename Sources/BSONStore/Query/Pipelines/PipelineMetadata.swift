/// The metadata that stages request by `$meta`.
enum PipelineMetadata {
    /// Stages whose pipelines have their own searches, or that request no metadata.
    private static let apart: Set<String> = ["$lookup", "$match", "$unionWith"]

    /// Checks that no stage requests a text score or a distance that does not exist.
    ///
    /// - Parameter searches: whether the pipeline contains a text search.
    /// - Throws: 40218.
    static func check(_ stages: BSONArray, searches: Bool) throws(StoreError) {
        let first = stages.first { _ in true }?.documentValue?.keys.first
        var missing: [String: String] = searches ? [:] : ["textScore": "text score"]
        if first != "$geoNear" {
            missing["geoNearDistance"] = "$geoNear distance"
            missing["geoNearPoint"] = "$geoNear point"
        }
        for stage in stages {
            for (name, argument) in stage.documentValue ?? [:] where !apart.contains(name) {
                guard let asked = asked(argument, of: missing) else { continue }
                throw .location(
                    40218, "query requires \(asked) metadata, but it is not available")
            }
        }
    }

    /// Whether a stage or a projection requests the values by which a document sorts.
    static func asksForSortKey(_ value: BSONValue) -> Bool {
        asked(value, of: ["sortKey": "sort key"]) != nil
    }

    /// Returns the first missing metadata that a stage's argument requests.
    private static func asked(_ value: BSONValue, of missing: [String: String]) -> String? {
        switch value {
        case .document(let document):
            document.lazy.compactMap { key, value in
                switch key {
                case "$meta": value.stringValue.flatMap { missing[$0] }
                case "$literal", "$const": nil
                default: asked(value, of: missing)
                }
            }.first
        case .array(let array): array.lazy.compactMap { asked($0, of: missing) }.first
        default: nil
        }
    }
}
