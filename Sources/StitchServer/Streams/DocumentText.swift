internal import BSONStore

/// The text of documents in MongoDB's change stream errors.
///
/// Source: the server's `Document::toString`.
enum DocumentText {
    /// Returns a document with its fields in order.
    static func text(of document: BSONDocument) -> String {
        let fields = document.map { "\($0.key): \(text(of: $0.value))" }
        return "{\(fields.joined(separator: ", "))}"
    }

    private static func text(of value: BSONValue) -> String {
        switch value {
        case .document(let document): text(of: document)
        case .array(let array): "[\(array.map { text(of: $0) }.joined(separator: ", "))]"
        case .string(let string): "\"\(string)\""
        default: ShellText.text(of: value)
        }
    }
}
