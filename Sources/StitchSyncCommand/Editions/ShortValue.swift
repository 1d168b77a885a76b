import BSONStore

/// The text of a value, short enough for a line of a terminal.
struct ShortValue: Sendable, CustomStringConvertible {
    let description: String

    /// The maximum number of bytes of a value that is shown as it is.
    private static let bytesMax = 300
    /// The maximum number of bytes of binary data that are shown.
    private static let binaryMax = 32

    init(_ value: BSONValue) {
        if case .binary(let binary) = value, binary.bytes.count > Self.binaryMax {
            description = "binary of subtype \(binary.subtype), \(binary.bytes.count) bytes"
            return
        }
        let text = value.extendedJSON(.relaxed)
        guard text.utf8.count > Self.bytesMax else {
            description = text
            return
        }
        switch value {
        case .array(let list): description = "array of \(list.values.count.counted("value"))"
        case .document(let document):
            description = "document of \(document.count.counted("field"))"
        default: description = "\(text.prefix(Self.bytesMax)) … (\(text.utf8.count) bytes)"
        }
    }
}
