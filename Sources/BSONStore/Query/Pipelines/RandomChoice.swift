/// The stages and expressions whose results differ each time they run.
package enum RandomChoice {
    private static let names: Set<String> = ["$sample", "$rand", "$sampleRate"]

    /// Whether a pipeline, or an expression in it, chooses at random.
    package static func isPart(of pipeline: BSONArray) -> Bool { isPart(of: .array(pipeline)) }

    private static func isPart(of value: BSONValue) -> Bool {
        switch value {
        case .document(let document):
            document.contains { key, value in
                switch key {
                case "$literal", "$const": false
                default: names.contains(key) || isPart(of: value)
                }
            }
        case .array(let array): array.contains { isPart(of: $0) }
        default: false
        }
    }
}
