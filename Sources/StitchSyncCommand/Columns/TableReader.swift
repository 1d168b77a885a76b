import BSONStore

/// A reader of documents from CSV or TSV.
struct TableReader {
    /// The bytes read so far, for showing progress.
    var byteCount: Int { records.byteCount }

    private var records: RecordReader
    private let plan: ColumnPlan
    private let ignoresBlanks: Bool

    /// Reads the names of the columns, unless the options name them.
    ///
    /// - Throws: `CommandError` if the names are invalid, or the file is empty.
    init(_ source: LineReader, isTabbed: Bool, _ options: ColumnOptions) throws(CommandError) {
        records = RecordReader(
            source, separator: UInt8(ascii: isTabbed ? "\t" : ","), hasQuotes: !isTabbed)
        ignoresBlanks = options.ignoresBlanks
        var names = options.fields ?? []
        if options.hasHeaderLine {
            guard let record = try records.next() else {
                throw CommandError("the file is empty; a header line is expected")
            }
            switch record.content {
            case .fields(let fields):
                names = fields.map { String(decoding: $0.bytes, as: UTF8.self) }
            case .fault(let fault): throw CommandError("the header line: \(fault)")
            }
        }
        plan = try ColumnPlan(names, haveTypes: options.haveTypes)
    }

    /// Returns the next document or fault with its line; `nil` at the end of the file.
    mutating func next() throws(CommandError)
        -> (line: Int, result: Result<BSONDocument, ImportLineError>)?
    {
        guard let record = try records.next() else { return nil }
        switch record.content {
        case .fault(let fault): return (record.line, .failure(fault))
        case .fields(let fields):
            do throws(ImportLineError) {
                return (
                    record.line,
                    .success(try plan.document(of: fields, ignoresBlanks: ignoresBlanks))
                )
            } catch {
                return (record.line, .failure(error))
            }
        }
    }
}

/// The options for the columns of CSV and TSV.
struct ColumnOptions: Sendable {
    /// The names of the columns; `nil` if the header line has them.
    var fields: [String]?
    /// Whether the first line names the columns.
    var hasHeaderLine = false
    /// Whether the names end in types.
    var haveTypes = false
    /// Whether empty values are left out.
    var ignoresBlanks = false

    /// Returns the names in a list with commas; commas within parentheses separate nothing.
    static func names(_ list: String) -> [String] {
        var (names, depth) = ([""], 0)
        for character in list {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth <= 0 {
                names.append("")
            } else {
                names[names.count - 1].append(character)
            }
        }
        return names.map { $0.trimmingPrefix(while: \.isWhitespace).description }
    }
}
