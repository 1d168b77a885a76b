import BSONStore

/// A writer of documents as Extended JSON, one per line, one field per line, or one array.
struct DocumentLines {
    private var lines: BufferedLines
    private let format: ExtendedJSONFormat
    private let isArray: Bool
    private let isPretty: Bool
    /// The number of written documents.
    private(set) var count = 0

    /// - Parameters:
    ///   - isArray: whether the documents are the elements of one array.
    ///   - isPretty: whether each field has a line of its own.
    init(to descriptor: Descriptor, isRelaxed: Bool, isArray: Bool, isPretty: Bool = false) {
        lines = BufferedLines(to: descriptor)
        format = isRelaxed ? .relaxed : .canonical
        self.isArray = isArray
        self.isPretty = isPretty
    }

    /// Adds a document.
    mutating func append(_ document: BSONDocument) throws(CommandError) {
        if isArray { try lines.append(raw: Array((count == 0 ? "[\n" : ",\n").utf8)) }
        count += 1
        let text = document.extendedJSONBytes(format, pretty: isPretty)
        if isArray { try lines.append(raw: text) } else { try lines.append(text) }
    }

    /// Writes the rest; must be called at the end.
    mutating func finish() throws(CommandError) {
        if isArray { try lines.append(raw: Array((count == 0 ? "[]\n" : "\n]\n").utf8)) }
        try lines.flush()
    }
}
