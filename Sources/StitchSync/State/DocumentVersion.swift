public import BSONStore

/// Tells editions of a remote document apart: `{spv: 1, id: <lineage>, v: <counter>, op: <attempt>}`.
///
/// `spv`, `id` and `v` mean what they meant in MongoDB Stitch; `op` names the attempt that wrote it
/// and is missing where Stitch or another tool did. Versions are equal or different, never ordered.
public struct DocumentVersion: Sendable, Hashable {
    /// The top-level field that holds it.
    public static let fieldName = "__stitch_sync_version"
    /// The only value of `spv` that is understood.
    public static let protocolVersion: Int64 = 1

    /// The version document as it is stored.
    public let document: BSONDocument

    /// Names the document's lineage: all editions since one insert share it.
    public var lineage: String { document["id"]?.stringValue ?? "" }
    /// Counts writes in the lineage; grows by one with each, but may hold anything.
    public var counter: Int64 { document["v"]?.int64Value ?? 0 }
    /// Names the attempt that wrote this edition, as it stands in the document.
    public var operation: BSONValue? { document["op"] }

    private init(
        lineage: String, counter: Int64, operation: OperationID, others: BSONDocument?
    ) {
        var document: BSONDocument = [
            "spv": .int32(Int32(Self.protocolVersion)), "id": .string(lineage),
            "v": .int64(counter), "op": operation.value,
        ]
        if let others, others.count > 4 || others.count == 4 && !others.contains(key: "op") {
            for (key, value) in others where !["spv", "id", "v", "op"].contains(key) {
                document.append(key, value)
            }
        }
        self.document = document
    }

    /// Makes the version of a document's first edition.
    public static func first(operation: OperationID) -> Self {
        DocumentVersion(
            lineage: operation.lineage, counter: 0, operation: operation, others: nil)
    }

    /// The version of the edition after this one; at the counter's end a new lineage begins.
    ///
    /// Keys of the version document that are not ours are kept.
    public func next(operation: OperationID) -> Self {
        let (counter, overflow) = counter.addingReportingOverflow(1)
        return DocumentVersion(
            lineage: overflow ? operation.lineage : lineage, counter: overflow ? 0 : counter,
            operation: operation, others: document)
    }

    /// Equal when lineage, counter and operation are; other keys do not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.document == right.document
            || left.lineage.utf8.elementsEqual(right.lineage.utf8)
                && left.counter == right.counter && left.operation == right.operation
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(counter)
        hasher.combine(operation)
    }
}

extension DocumentVersion {
    /// Reads a version document; `nil` when it is none that we understand.
    ///
    /// `v` may be an int32, an int64 or an integral double, `spv` likewise and must be 1.
    public init?(_ value: BSONValue) {
        guard case .document(let document) = value else { return nil }
        self.init(understanding: document)
    }

    /// Takes a version document; `nil` when it is none that we understand.
    init?(understanding document: BSONDocument) {
        guard document["spv"]?.int64Value == Self.protocolVersion,
            document.withCursor({ cursor in
                while let element = cursor.next() {
                    if element.hasKey("id") { return element.value.type == .string }
                }
                return false
            }), document["v"]?.int64Value != nil
        else { return nil }
        self.document = document
    }
}

/// What the version field of a remote document holds.
public enum VersionField: Sendable, Hashable {
    /// There is none: another tool wrote the document, or unset the field to say that it did.
    case absent
    /// A version that we understand.
    case version(DocumentVersion)
    /// Something else: another protocol version, wrong types, no document.
    case foreign(BSONValue)

    /// Reads the field of a document.
    public init(of document: BSONDocument) {
        guard let value = document[DocumentVersion.fieldName] else {
            self = .absent
            return
        }
        self = DocumentVersion(value).map(VersionField.version) ?? .foreign(value)
    }

    /// The version, when there is one.
    public var version: DocumentVersion? {
        if case .version(let version) = self { version } else { nil }
    }

    /// The field's value, `nil` when the field is absent.
    public var value: BSONValue? {
        switch self {
        case .absent: nil
        case .version(let version): .document(version.document)
        case .foreign(let value): value
        }
    }
}
