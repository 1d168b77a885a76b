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
                guard let asked = RequestedMetadata.first(in: argument, of: missing) else {
                    continue
                }
                throw .location(
                    40218, "query requires \(asked) metadata, but it is not available")
            }
        }
    }
}
