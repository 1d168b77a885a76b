import BSONStore

/// The format of an imported file.
enum ImportFormat: Sendable {
    /// Extended JSON, one object per line or a list of objects.
    case json
    /// A dump in the format of mongodump.
    case bson
    case csv(ColumnOptions)
    case tsv(ColumnOptions)

    /// Whether documents are counted, not lines.
    var isDump: Bool {
        if case .bson = self { true } else { false }
    }
}

/// A reader of documents in the format of mongoexport, one Extended JSON object per line or a list
/// of objects, or in that of mongodump, or from CSV or TSV.
struct DocumentReader {
    /// A batch of consecutive documents and rejected lines.
    struct Batch: Sendable {
        /// The documents with their line numbers; the store gives an `_id` to those without one.
        var documents: [(line: Int, document: BSONDocument)] = []
        /// The rejected lines, with the reasons.
        var faults: [(line: Int, fault: ImportLineError)] = []
        /// The number of documents to delete that do not exist.
        var missedCount = 0
    }

    /// The bytes read so far, for showing progress.
    var byteCount: Int { dump?.byteCount ?? list?.byteCount ?? table?.byteCount ?? lines.byteCount }

    private var lines: LineReader
    private var list: ListReader?
    private var dump: DumpReader?
    private var table: TableReader?

    private static let batchLinesMax = 1_000
    private static let batchBytesMax = 4 * 1024 * 1024

    init(_ descriptor: Descriptor, _ format: ImportFormat) throws(CommandError) {
        lines = LineReader(descriptor)
        switch format {
        case .json: if try lines.beginsList() { list = ListReader(lines) }
        case .bson: dump = DumpReader(descriptor)
        case .csv(let options):
            table = try TableReader(lines, isTabbed: false, options)
        case .tsv(let options):
            table = try TableReader(lines, isTabbed: true, options)
        }
    }

    /// Returns the next lines; `nil` at the end of the file.
    ///
    /// Empty lines are skipped.
    ///
    /// - Parameter stopsAtFault: whether the batch ends with the first rejected line.
    mutating func nextBatch(stopsAtFault: Bool = false) throws(CommandError) -> Batch? {
        var batch = Batch()
        var byteCount = 0
        while batch.documents.count + batch.faults.count < Self.batchLinesMax,
            byteCount < Self.batchBytesMax, !(stopsAtFault && !batch.faults.isEmpty)
        {
            guard let (line, result) = try nextDocument() else {
                return batch.documents.isEmpty && batch.faults.isEmpty ? nil : batch
            }
            switch result {
            case .success(nil): continue
            case .success(let document?):
                byteCount += document.byteCount
                batch.documents.append((line, document))
            case .failure(let fault): batch.faults.append((line, fault))
            }
        }
        return batch
    }

    /// Returns the document or the fault of the next line; `nil` at the end of the file.
    private mutating func nextDocument() throws(CommandError)
        -> (line: Int, result: Result<BSONDocument?, ImportLineError>)?
    {
        if table != nil {
            guard let (line, result) = try table?.next() else { return nil }
            return (line, result.map { $0 })
        }
        guard let line = try next() else { return nil }
        do throws(ImportLineError) {
            return (line.number, .success(try document(line)))
        } catch {
            return (line.number, .failure(error))
        }
    }

    private mutating func next() throws(CommandError) -> LineReader.Line? {
        if dump != nil { return try dump?.next() }
        if list != nil { return try list?.next() }
        return try lines.next()
    }

    private func document(_ line: LineReader.Line) throws(ImportLineError) -> BSONDocument? {
        dump == nil ? try Self.document(line) : try Self.dumped(line)
    }

    /// Returns the document of a dump entry.
    private static func dumped(_ line: LineReader.Line) throws(ImportLineError) -> BSONDocument {
        let bytes: [UInt8]
        switch line.content {
        case .bytes(let content): bytes = content
        case .tooLong(let byteCount): throw .lineTooLong(byteCount: byteCount)
        case .broken(let reason): throw .broken(reason)
        }
        do throws(BSONError) {
            return try BSONDocument(validating: bytes)
        } catch {
            throw .malformed(error)
        }
    }

    /// Returns the document of a line; `nil` for an empty line.
    static func document(_ line: LineReader.Line) throws(ImportLineError) -> BSONDocument? {
        var bytes: [UInt8]
        switch line.content {
        case .bytes(let content): bytes = content
        case .tooLong(let byteCount): throw .lineTooLong(byteCount: byteCount)
        case .broken(let reason): throw .broken(reason)
        }
        if line.number == 1, bytes.starts(with: LineReader.byteOrderMark) { bytes.removeFirst(3) }
        guard let first = bytes.first(where: { !isBlank($0) }) else { return nil }
        guard first == UInt8(ascii: "{") else { throw .notAnObject }
        do throws(BSONError) {
            return try BSONDocument(extendedJSONBytes: bytes)
        } catch {
            throw .malformed(error)
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
