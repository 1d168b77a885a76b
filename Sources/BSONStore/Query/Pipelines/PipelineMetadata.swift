/// Looks for what stages ask of `$meta`.
enum PipelineMetadata {
    /// Stages whose pipelines search themselves, or that ask for nothing.
    private static let apart: Set<String> = ["$lookup", "$match", "$unionWith"]

    /// Checks that no stage asks for the score of a search, or for a distance, where there is none.
    ///
    /// - Parameter searches: whether the pipeline searches texts.
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

    /// What a stage's argument asks for of what is missing.
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
