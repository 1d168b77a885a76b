/// The metadata that expressions request by `$meta`.
enum RequestedMetadata {
    /// Whether a stage, a pipeline or a projection requests the values by which a document sorts.
    static func hasSortKey(_ value: BSONValue) -> Bool {
        first(in: value, of: ["sortKey": "sort key"]) != nil
    }

    /// Returns the first of some metadata that a value requests, by its text; `nil` for none.
    static func first(in value: BSONValue, of texts: [String: String]) -> String? {
        switch value {
        case .document(let document):
            document.lazy.compactMap { key, value in
                switch key {
                case "$meta": value.stringValue.flatMap { texts[$0] }
                case "$literal", "$const": nil
                default: first(in: value, of: texts)
                }
            }.first
        case .array(let array): array.lazy.compactMap { first(in: $0, of: texts) }.first
        default: nil
        }
    }
}
