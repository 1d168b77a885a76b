/// A reader of records of separated values: CSV (RFC 4180), or TSV, which has no quotes.
struct RecordReader {
    /// A value of a record.
    struct Field: Sendable {
        /// The bytes without quotes.
        var bytes: [UInt8] = []
        /// The line where the value begins, counted from 1.
        let line: Int
        /// The byte of that line where the value begins, counted from 1.
        let column: Int
        /// Whether the value is quoted.
        var isQuoted = false
    }

    /// A record with its first line.
    struct Record: Sendable {
        let line: Int
        let content: Content
    }

    /// The content of a record.
    enum Content: Sendable {
        case fields([Field])
        case fault(ImportLineError)
    }

    /// The bytes read so far, for showing progress.
    var byteCount: Int { source.byteCount }

    private var source: LineReader
    private let separator: UInt8
    private let hasQuotes: Bool
    private let recordBytesMax: Int
    private var line = 1
    private var column = 0
    private var hasBegun = false

    /// The position in a record.
    private enum Place {
        case before
        case plain
        case quoted
        /// After a quote within quotes, which ends the value or stands for a quote.
        case afterQuote
    }

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    init(
        _ source: LineReader, separator: UInt8, hasQuotes: Bool,
        recordBytesMax: Int = LineReader.lineBytesMax
    ) {
        self.source = source
        self.separator = separator
        self.hasQuotes = hasQuotes
        self.recordBytesMax = recordBytesMax
    }

    /// Returns the next record; `nil` at the end of the file.
    ///
    /// Empty lines are skipped.
    mutating func next() throws(CommandError) -> Record? {
        if !hasBegun { try source.skipByteOrderMark() }
        hasBegun = true
        while let record = try read() {
            if case .fields(let fields) = record.content, fields.count == 1,
                fields[0].bytes.isEmpty, !fields[0].isQuoted
            {
                continue
            }
            return record
        }
        return nil
    }

    private mutating func read() throws(CommandError) -> Record? {
        let first = line
        column = 0
        var (fields, field) = ([Field](), Field(line: line, column: 1))
        var (place, length) = (Place.before, 0)
        var fault: ImportLineError?
        func content() -> Content {
            if let fault { return .fault(fault) }
            return length > recordBytesMax
                ? .fault(.lineTooLong(byteCount: length)) : .fields(fields)
        }
        while let byte = try nextByte() {
            length += 1
            if length > recordBytesMax { (fields, field.bytes) = ([], []) }
            if place == .quoted {
                if byte == Self.quote { place = .afterQuote } else { field.bytes.append(byte) }
                continue
            }
            switch byte {
            case Self.lineFeed:
                if place != .afterQuote, field.bytes.last == Self.carriageReturn {
                    field.bytes.removeLast()
                }
                fields.append(field)
                return Record(line: first, content: content())
            case separator:
                fields.append(field)
                field = Field(line: line, column: column + 1)
                place = .before
            case Self.quote where hasQuotes && place == .before:
                field.isQuoted = true
                place = .quoted
            case Self.quote where place == .afterQuote:
                field.bytes.append(byte)
                place = .quoted
            case Self.carriageReturn where place == .afterQuote: break
            case _ where place == .afterQuote:
                fault = fault ?? .text("there is text after a quoted value", column: column)
                place = .plain
            default:
                field.bytes.append(byte)
                place = .plain
            }
        }
        guard length > 0 else { return nil }
        if place == .quoted {
            let opening = "line \(field.line), column \(field.column)"
            fault = .broken("the quote of \(opening) is not closed")
        }
        fields.append(field)
        return Record(line: first, content: content())
    }

    private mutating func nextByte() throws(CommandError) -> UInt8? {
        guard let byte = try source.nextByte() else { return nil }
        if byte == Self.lineFeed { (line, column) = (line + 1, 0) } else { column += 1 }
        return byte
    }
}
