/// Looks for what stages ask of `$meta`.
enum PipelineMetadata {
    /// Stages whose pipelines search texts themselves, or that ask for nothing.
    private static let apart: Set<String> = ["$lookup", "$match", "$unionWith"]

    /// Checks that no stage of a pipeline that searches no text asks for its score.
    ///
    /// - Throws: 40218.
    static func check(_ stages: BSONArray) throws(StoreError) {
        for stage in stages {
            for (name, argument) in stage.documentValue ?? [:]
            where !apart.contains(name) && asksForScore(argument) {
                throw .location(
                    40218, "query requires text score metadata, but it is not available")
            }
        }
    }

    private static func asksForScore(_ value: BSONValue) -> Bool {
        switch value {
        case .document(let document):
            document.contains { key, value in
                switch key {
                case "$meta": value == .string("textScore")
                case "$literal", "$const": false
                default: asksForScore(value)
                }
            }
        case .array(let array): array.contains { asksForScore($0) }
        default: false
        }
    }
}
