import BSONStore

/// A writer of documents as Extended JSON, one per line, one field per line, or one array, or as a
/// table.
struct DocumentLines {
    /// The arrangement of the documents.
    enum Layout: Sendable {
        /// Each document on its own line.
        case lines
        /// The elements of one array.
        case array
        /// The rows of a table; all documents are kept until the end.
        case table
    }

    private var lines: BufferedLines
    private let format: ExtendedJSONFormat
    private let layout: Layout
    private let isPretty: Bool
    private var rows: [BSONDocument] = []
    /// The number of written documents.
    private(set) var count = 0

    /// - Parameter isPretty: whether each field has a line of its own.
    init(to descriptor: Descriptor, isRelaxed: Bool, layout: Layout, isPretty: Bool = false) {
        lines = BufferedLines(to: descriptor)
        format = isRelaxed ? .relaxed : .canonical
        self.layout = layout
        self.isPretty = isPretty
    }

    /// Adds a document.
    mutating func append(_ document: BSONDocument) throws(CommandError) {
        defer { count += 1 }
        switch layout {
        case .lines: try lines.append(document.extendedJSONBytes(format, pretty: isPretty))
        case .array:
            try lines.append(raw: Array((count == 0 ? "[\n" : ",\n").utf8))
            try lines.append(raw: document.extendedJSONBytes(format, pretty: isPretty))
        case .table: rows.append(document)
        }
    }

    /// Writes the rest; must be called at the end.
    mutating func finish() throws(CommandError) {
        switch layout {
        case .lines: break
        case .array: try lines.append(raw: Array((count == 0 ? "[]\n" : "\n]\n").utf8))
        case .table:
            for line in DocumentTable(rows).lines { try lines.append(raw: Array("\(line)\n".utf8)) }
        }
        try lines.flush()
    }
}
