import BSONStore

/// Reads documents from a file in mongoexport's form, one Extended JSON object a line.
struct DocumentReader {
    /// Documents and rejected lines that followed each other in the file.
    struct Batch: Sendable {
        /// The documents with the lines they stand on, all with an `_id`.
        var documents: [(line: Int, document: BSONDocument)] = []
        /// The lines that gave none, and why.
        var faults: [(line: Int, fault: LineFault)] = []
    }

    /// The bytes read so far, for showing progress.
    var byteCount: Int { lines.byteCount }

    private var lines: LineReader

    private static let batchLinesMax = 1_000
    private static let batchBytesMax = 4 * 1024 * 1024

    init(_ descriptor: Descriptor) { lines = LineReader(descriptor) }

    /// The next lines, `nil` at the end of the file; empty lines are passed over.
    mutating func nextBatch() throws(CommandError) -> Batch? {
        var batch = Batch()
        var byteCount = 0
        while batch.documents.count + batch.faults.count < Self.batchLinesMax,
            byteCount < Self.batchBytesMax
        {
            guard let line = try lines.next() else {
                return batch.documents.isEmpty && batch.faults.isEmpty ? nil : batch
            }
            do throws(LineFault) {
                guard let document = try Self.document(line) else { continue }
                byteCount += document.byteCount
                batch.documents.append((line.number, document))
            } catch {
                batch.faults.append((line.number, error))
            }
        }
        return batch
    }

    /// The document of a line, `nil` for an empty line.
    static func document(_ line: LineReader.Line) throws(LineFault) -> BSONDocument? {
        var bytes: [UInt8]
        switch line.content {
        case .bytes(let content): bytes = content
        case .tooLong(let byteCount): throw .lineTooLong(byteCount: byteCount)
        }
        if line.number == 1, bytes.starts(with: byteOrderMark) { bytes.removeFirst(3) }
        guard let first = bytes.first(where: { !isBlank($0) }) else { return nil }
        guard first == UInt8(ascii: "{") else { throw .notAnObject }
        let document: BSONDocument
        do throws(BSONError) {
            document = try BSONDocument(extendedJSONBytes: bytes)
        } catch {
            throw .malformed(error)
        }
        guard document["_id"] != nil else { throw .noID }
        return document
    }

    /// Some editors write one in front of UTF-8, where it means nothing.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
