internal import BSONStore

/// The steps of documents' stories that one transaction stores together.
///
/// Most transactions of a pass concern many documents, and one row for all costs much less than a
/// row for each with an index. The form of an entry, with numbers in little-endian order:
///
/// | bytes | meaning |
/// |---|---|
/// | 4 | the number of bytes that follow |
/// | 1 | the event |
/// | 1 | a detail of the event, such as the kind of change |
/// | 1 | which of the last parts are there (``Parts``) |
/// | 4 and more | the length of the document's key, and the key |
/// | 16 | the operation |
/// | 8, or 24 with its operation | the version before, then the version after |
/// | the rest | a document with further details |
struct HistoryBuffer {
    /// The parts that an entry has.
    struct Parts: OptionSet {
        let rawValue: UInt8
        static let operation = Parts(rawValue: 1)
        static let before = Parts(rawValue: 2)
        static let writerBefore = Parts(rawValue: 4)
        static let after = Parts(rawValue: 8)
        static let writerAfter = Parts(rawValue: 16)
        static let details = Parts(rawValue: 32)
    }

    /// A place to which the buffer can be reset.
    struct Mark {
        fileprivate let byteCount: Int
        fileprivate let ends: [Int]
        fileprivate let count: Int
    }

    /// The number of bytes after which a row ends.
    private static let rowBytes = 64 * 1024

    /// The number of conflicts of a transaction whose fields are kept; the fields of more would cost
    /// more than to resolve them.
    private static let fieldsMax = 100

    private var bytes: [UInt8] = []
    /// The ends of full rows, and the numbers of entries up to them.
    private var ends: [(end: Int, count: Int)] = []
    private var count = 0
    /// The fields of conflicts, by the numbers of their entries in the buffer from 1.
    private(set) var fields: [(index: Int, key: [UInt8], document: BSONDocument)] = []

    /// The current end of the buffer.
    var mark: Mark { Mark(byteCount: bytes.count, ends: ends.map(\.end), count: count) }

    /// Removes the entries after a mark, whose changes were rolled back.
    mutating func removeEntries(after mark: Mark) {
        bytes.removeLast(bytes.count - mark.byteCount)
        ends.removeLast(ends.count - mark.ends.count)
        count = mark.count
        fields.removeAll { $0.index > mark.count }
    }

    /// Removes the fields of a document that leaves the device.
    mutating func removeFields(of id: BSONValue) {
        guard !fields.isEmpty else { return }
        let key = BSONKey.encode(id)
        fields.removeAll { $0.key == key }
    }

    /// The rows to store: the number of entries and their bytes.
    var rows: [(count: Int, bytes: [UInt8])] {
        var rows: [(count: Int, bytes: [UInt8])] = []
        var last = (end: 0, count: 0)
        for end in ends + [(bytes.count, count)] where end.count > last.count {
            rows.append((end.count - last.count, Array(bytes[last.end..<end.end])))
            last = end
        }
        return rows
    }

    /// Whether no more fields of conflicts are kept.
    var isFullOfFields: Bool { fields.count >= Self.fieldsMax }

    /// Adds an entry.
    mutating func append(
        _ event: HistoryEvent, of id: BSONValue, operation: OperationID?, from before: VersionField,
        to after: VersionField
    ) {
        let details = event.details
        BSONKey.lend(id) { key in
            let room = EntryWriter.fixedBytesMax + key.count + (details?.byteCount ?? 0)
            withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { room in
                var entry = EntryWriter(room)
                entry.begin(event.code, key)
                if let operation { entry.append(operation, as: .operation) }
                entry.append(before, as: .before, writer: .writerBefore)
                entry.append(after, as: .after, writer: .writerAfter)
                if let details { entry.append(details) }
                bytes.append(contentsOf: entry.finished())
            }
        }
        count += 1
        if !isFullOfFields, let document = event.fields {
            fields.append((count, BSONKey.encode(id), document))
        }
        if bytes.count - (ends.last?.end ?? 0) >= Self.rowBytes {
            ends.append((bytes.count, count))
        }
    }
}

/// The writing of one entry, in lent memory that has room for it.
private struct EntryWriter {
    /// The most bytes of an entry beside its key and details.
    static let fixedBytesMax = 11 + 16 + 24 + 24

    private let room: UnsafeMutableRawBufferPointer
    private var count = 0
    private var parts: HistoryBuffer.Parts = []

    init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

    mutating func begin(_ code: (event: UInt8, detail: UInt8), _ key: UnsafeRawBufferPointer) {
        append(UInt32(0))
        append(code.event)
        append(code.detail)
        append(UInt8(0))
        append(UInt32(key.count))
        append(key)
    }

    mutating func append(_ operation: OperationID, as part: HistoryBuffer.Parts) {
        parts.insert(part)
        append(operation.instance)
        append(operation.sequence)
    }

    mutating func append(
        _ field: VersionField, as part: HistoryBuffer.Parts, writer: HistoryBuffer.Parts
    ) {
        guard case .version(let version) = field else { return }
        parts.insert(part)
        let (counter, operation) = version.counterAndOperation
        append(UInt64(bitPattern: counter))
        if let operation { append(operation, as: writer) }
    }

    mutating func append(_ details: BSONDocument) {
        parts.insert(.details)
        details.withUnsafeBytes { append($0) }
    }

    /// Completes the entry and returns its bytes.
    func finished() -> UnsafeRawBufferPointer {
        room.storeBytes(of: UInt32(count - 4).littleEndian, as: UInt32.self)
        room[6] = parts.rawValue
        return UnsafeRawBufferPointer(rebasing: room[..<count])
    }

    private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        room.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
        count += bytes.count
    }
}

/// The reading of the stored form.
struct HistoryReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next entry's document key and content; `nil` at the end.
    ///
    /// - Throws: `SyncError` for damaged bytes.
    mutating func next() throws -> (key: ArraySlice<UInt8>, entry: StoredHistoryEntry)? {
        guard at < bytes.count else { return nil }
        let length = Int(try number(UInt32.self))
        guard length >= 7, length <= bytes.count - at else { throw Self.unreadable }
        let end = at + length
        let (event, detail) = (bytes[at], bytes[at + 1])
        let parts = HistoryBuffer.Parts(rawValue: bytes[at + 2])
        at += 3
        let keyLength = Int(try number(UInt32.self))
        guard keyLength <= end - at else { throw Self.unreadable }
        let key = bytes[at..<at + keyLength]
        at += keyLength
        let operation = parts.contains(.operation) ? try self.operation() : nil
        let before = try version(parts, .before, .writerBefore)
        let after = try version(parts, .after, .writerAfter)
        guard at <= end else { throw Self.unreadable }
        let details = parts.contains(.details) ? Array(bytes[at..<end]) : nil
        at = end
        return (
            key,
            StoredHistoryEntry(
                event: event, detail: detail, operation: operation, before: before, after: after,
                details: details)
        )
    }

    private mutating func version(
        _ parts: HistoryBuffer.Parts, _ part: HistoryBuffer.Parts, _ writer: HistoryBuffer.Parts
    ) throws -> HistoryVersion? {
        guard parts.contains(part) else { return nil }
        let counter = Int64(bitPattern: try number(UInt64.self))
        return HistoryVersion(
            counter: counter, operation: parts.contains(writer) ? try operation() : nil)
    }

    private mutating func operation() throws -> OperationID {
        OperationID(instance: try number(UInt64.self), sequence: try number(UInt64.self))
    }

    private mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws -> Number {
        let width = Number.bitWidth / 8
        guard width <= bytes.count - at else { throw Self.unreadable }
        defer { at += width }
        return bytes[at..<at + width].reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    private static var unreadable: SyncError { .unreadable("history") }
}

/// One entry as the table holds it.
struct StoredHistoryEntry {
    let event: UInt8
    let detail: UInt8
    let operation: OperationID?
    let before: HistoryVersion?
    let after: HistoryVersion?
    let details: [UInt8]?
}
