import BSONStore

/// A reader of documents in the format of mongoexport, one Extended JSON object per line or a list
/// of objects, or in that of mongodump.
struct DocumentReader {
    /// A batch of consecutive documents and rejected lines.
    struct Batch: Sendable {
        /// The documents with their line numbers; the store gives an `_id` to those without one.
        var documents: [(line: Int, document: BSONDocument)] = []
        /// The rejected lines, with the reasons.
        var faults: [(line: Int, fault: ImportLineError)] = []
    }

    /// The bytes read so far, for showing progress.
    var byteCount: Int { dump?.byteCount ?? list?.byteCount ?? lines.byteCount }

    private var lines: LineReader
    private var list: ListReader?
    private var dump: DumpReader?

    private static let batchLinesMax = 1_000
    private static let batchBytesMax = 4 * 1024 * 1024

    init(_ descriptor: Descriptor, isDump: Bool) throws(CommandError) {
        lines = LineReader(descriptor)
        if isDump {
            dump = DumpReader(descriptor)
        } else if try lines.beginsList() {
            list = ListReader(lines)
        }
    }

    /// Returns the next lines; `nil` at the end of the file.
    ///
    /// Empty lines are skipped.
    mutating func nextBatch() throws(CommandError) -> Batch? {
        var batch = Batch()
        var byteCount = 0
        while batch.documents.count + batch.faults.count < Self.batchLinesMax,
            byteCount < Self.batchBytesMax
        {
            guard let line = try next() else {
                return batch.documents.isEmpty && batch.faults.isEmpty ? nil : batch
            }
            do throws(ImportLineError) {
                guard let document = try document(line) else { continue }
                byteCount += document.byteCount
                batch.documents.append((line.number, document))
            } catch {
                batch.faults.append((line.number, error))
            }
        }
        return batch
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
