public import BSONStore

/// The version of a remote edition: `{spv: 1, id: <lineage>, v: <counter>, op: <attempt>}`.
///
/// `spv`, `id` and `v` have their MongoDB Stitch meaning. `op` names the attempt that wrote the
/// edition; an edition written by Stitch or another tool has none. Versions have no order.
///
/// ```swift
/// let attempt = OperationID(instance: 1, sequence: 1)
/// let version = DocumentVersion.first(operation: attempt)
/// print(version.counter, version.next(operation: attempt).counter)  // 0 1
/// ```
public struct DocumentVersion: Sendable, Hashable, CustomStringConvertible {
    /// The name of the top-level field that holds the version.
    public static let fieldName = "__stitch_sync_version"
    /// The only supported value of `spv`.
    public static let protocolVersion: Int64 = 1

    /// The version document as it is stored.
    public let document: BSONDocument

    /// The name of the lineage, which all editions since one insert share.
    public var lineage: String { document["id"]?.stringValue ?? "" }
    /// The number of writes in the lineage; another tool may have written any value.
    public var counter: Int64 { document["v"]?.int64Value ?? 0 }
    /// The name of the attempt that wrote this edition, as the document holds it.
    public var operation: BSONValue? { document["op"] }

    /// The version document as relaxed Extended JSON.
    public var description: String { document.description }

    /// Returns the version of a document's first edition.
    public static func first(operation: OperationID) -> Self {
        DocumentVersion(
            document: [
                "spv": .int32(Int32(Self.protocolVersion)), "id": .string(operation.lineage),
                "v": .int64(0), "op": operation.value,
            ])
    }

    /// Returns the version of the next edition; after the greatest counter a new lineage begins.
    ///
    /// Unknown keys of the version document stay.
    public func next(operation: OperationID) -> Self {
        if let next = nextInPlace(operation) { return next }
        let (counter, overflow) = counter.addingReportingOverflow(1)
        var document = document
        document.set("spv", to: .int32(Int32(Self.protocolVersion)))
        if overflow { document.set("id", to: .string(operation.lineage)) }
        document.set("v", to: .int64(overflow ? 0 : counter))
        document.set("op", to: operation.value)
        return DocumentVersion(document: document)
    }

    /// Returns the next version by patching bytes; `nil` where the document has other types or
    /// keys.
    private func nextInPlace(_ operation: OperationID) -> Self? {
        var (isOurs, counter, counterAt, operationAt) = (false, Int64.max, 0, 0)
        document.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var cursor = BSONCursor(bytes)
            while let element = cursor.next() {
                let value = element.value
                if element.hasKey("spv"), !isOurs {
                    isOurs = value.type == .int32 && value.int32 == Self.protocolVersion
                    if !isOurs { return }
                } else if element.hasKey("v"), counterAt == 0 {
                    guard value.type == .int64 else { return }
                    (counter, counterAt) = (value.int64, value.start - base)
                } else if element.hasKey("op"), operationAt == 0 {
                    // The value consists of its length, the subtype and 16 bytes.
                    guard value.type == .binary, value.count == 21,
                        value.start.load(fromByteOffset: 4, as: UInt8.self) == 0
                    else { return }
                    operationAt = value.start + 5 - base
                }
            }
        }
        guard isOurs, counterAt > 0, operationAt > 0, counter < .max else { return nil }
        var bytes = document.bytes
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(
                of: (counter + 1).littleEndian, toByteOffset: counterAt, as: Int64.self)
            bytes.storeBytes(
                of: operation.instance.bigEndian, toByteOffset: operationAt, as: UInt64.self)
            bytes.storeBytes(
                of: operation.sequence.bigEndian, toByteOffset: operationAt + 8, as: UInt64.self)
        }
        return DocumentVersion(document: BSONDocument(unchecked: bytes))
    }

    private init(document: BSONDocument) { self.document = document }

    /// Compares lineage, counter and operation; other keys do not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.document == right.document
            || left.counter == right.counter && left.operation == right.operation
                && left.lineage.utf8.elementsEqual(right.lineage.utf8)
    }

    /// Hashes the counter and the operation.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(counter)
        hasher.combine(operation)
    }
}

extension DocumentVersion {
    /// Reads a version document; `nil` for a foreign value.
    ///
    /// `v` may be an int32, an int64 or an integral double, `spv` likewise and must be 1.
    public init?(_ value: BSONValue) {
        guard case .document(let document) = value else { return nil }
        self.init(understanding: document)
    }

    /// Wraps a version document; `nil` for a foreign one.
    init?(understanding document: BSONDocument) {
        let parts = document.withCursor { cursor in
            var parts = (spv: Int64?.none, isNamed: Bool?.none, counter: Int64?.none)
            while let element = cursor.next() {
                if element.hasKey("spv") {
                    parts.spv = parts.spv ?? Self.integer(element.value) ?? 0
                } else if element.hasKey("id") {
                    parts.isNamed = parts.isNamed ?? (element.value.type == .string)
                } else if element.hasKey("v"), parts.counter == nil {
                    guard let counter = Self.integer(element.value) else { break }
                    parts.counter = counter
                }
            }
            return parts
        }
        guard parts.spv == Self.protocolVersion, parts.isNamed == true, parts.counter != nil
        else { return nil }
        self.document = document
    }

    /// Returns the reason why a value is foreign, without any text from it.
    static func misfit(_ value: BSONValue) -> String {
        guard case .document(let document) = value else { return "it is not a document" }
        guard let spv = document["spv"]?.int64Value else {
            return "its spv is missing or not a number"
        }
        guard spv == protocolVersion else { return "its spv is \(spv)" }
        guard document["id"]?.stringValue != nil else { return "its id is missing or not a string" }
        return "its v is missing or not a whole number"
    }

    /// Reads the counter and the name of the attempt in one walk, without heap memory.
    var counterAndOperation: (counter: Int64, operation: OperationID?) {
        document.withCursor { cursor in
            var (counter, operation) = (Int64?.none, OperationID??.none)
            while let element = cursor.next() {
                if element.hasKey("v") {
                    counter = counter ?? Self.integer(element.value) ?? 0
                } else if element.hasKey("op"), operation == nil {
                    operation = .some(OperationID(element.value))
                }
            }
            return (counter ?? 0, operation ?? nil)
        }
    }

    private static func integer(_ value: BSONRawValue) -> Int64? {
        switch value.type {
        case .int64: value.int64
        case .int32: Int64(value.int32)
        default: BSONValue(copying: value).int64Value
        }
    }
}

/// The content of a remote document's version field.
///
/// ```swift
/// switch VersionField(of: document) {
/// case .absent: print("written by another tool")
/// case .version(let version): print("edition \(version.counter)")
/// case .foreign(let value): print("unknown version \(value)")
/// }
/// ```
public enum VersionField: Sendable, Hashable {
    /// The field is missing: another tool wrote the document or unset the field.
    case absent
    /// A valid version.
    case version(DocumentVersion)
    /// An invalid version: another protocol version, wrong types, or not a document.
    case foreign(BSONValue)

    /// Reads the field of a document.
    public init(of document: BSONDocument) { self.init(document[DocumentVersion.fieldName]) }

    /// Reads the field's value; `nil` when the field is absent.
    init(_ value: BSONValue?) {
        guard let value else {
            self = .absent
            return
        }
        self = DocumentVersion(value).map(VersionField.version) ?? .foreign(value)
    }

    /// The version; `nil` unless the field holds a valid one.
    public var version: DocumentVersion? {
        if case .version(let version) = self { version } else { nil }
    }

    /// The field's value; `nil` when the field is absent.
    public var value: BSONValue? {
        switch self {
        case .absent: nil
        case .version(let version): .document(version.document)
        case .foreign(let value): value
        }
    }
}
