/// The metadata that expressions request by `$meta` and that a query must prepare.
package struct RequestedMetadata: OptionSet, Sendable {
    /// One bit for each kind of metadata.
    package let rawValue: Int

    /// The values by which a document sorts.
    static let sortKey = Self(rawValue: 1)
    /// The number of a document's row.
    package static let recordID = Self(rawValue: 2)
    /// The values of the index by which a plan finds a document.
    package static let indexKey = Self(rawValue: 4)
    /// The metadata that depend on a document's stored place and on the plan.
    package static let placement: Self = [.recordID, .indexKey]

    private static let names: [String: Self] = [
        "sortKey": .sortKey, "recordId": .recordID, "indexKey": .indexKey,
    ]

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Reads what a stage, a pipeline or a projection requests.
    init(in value: BSONValue) {
        self = []
        switch value {
        case .document(let document):
            for (key, value) in document {
                switch key {
                case "$meta": formUnion(value.stringValue.flatMap { Self.names[$0] } ?? [])
                case "$literal", "$const": continue
                default: formUnion(Self(in: value))
                }
            }
        case .array(let array): for member in array { formUnion(Self(in: member)) }
        default: break
        }
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
