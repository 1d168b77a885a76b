/// A file beside documents: the reference to it, which is a field of a document.
///
/// The content is not in the document. It is stored on the device and sent in the background, in the
/// format of GridFS; see `Docs/ATTACHMENTS.md`. In BSON the reference is a document with the fields
/// `attachment` (an ObjectId, the `_id` of the file in GridFS), `sha256`, `length` and, where they are
/// known, `contentType` and `name`.
///
/// ```swift
/// @Document struct Todo {
///     var id = BSONObjectID()
///     var task: String
///     var photo: Attachment?
/// }
/// ```
public struct Attachment: Sendable, Hashable, Identifiable {
    /// The file's `_id` in GridFS; a file with other content has another one.
    public let id: BSONObjectID
    /// The SHA-256 of the content, 32 bytes.
    public let sha256: [UInt8]
    /// The number of bytes of the content.
    public let length: Int64
    /// The media type, such as `image/jpeg`.
    public let contentType: String?
    /// The name to show, such as `receipt.jpg`.
    public let name: String?

    /// Creates a reference to a file that is stored already.
    ///
    /// - Parameter sha256: the bytes of the hash, such as an array, `Data` or CryptoKit's digest.
    /// - Precondition: `sha256` has 32 bytes, and `length` is not negative.
    public init(
        id: BSONObjectID, sha256: some Sequence<UInt8>, length: Int64, contentType: String? = nil,
        name: String? = nil
    ) {
        let sha256 = Array(sha256)
        precondition(sha256.count == 32, "a SHA-256 has 32 bytes")
        precondition(length >= 0, "a length is not negative")
        (self.id, self.sha256, self.length) = (id, sha256, length)
        (self.contentType, self.name) = (contentType, name)
    }
}

extension Attachment: BSONValueCodable {
    private enum Key {
        static let id = "attachment"
        static let sha256 = "sha256"
        static let length = "length"
        static let contentType = "contentType"
        static let name = "name"
    }

    /// The reference as it is stored in a document.
    public var bsonValue: BSONValue {
        var document: BSONDocument = [
            Key.id: .objectID(id), Key.sha256: .binary(BSONBinary(sha256)),
            Key.length: .int64(length),
        ]
        if let contentType { document.append(Key.contentType, .string(contentType)) }
        if let name { document.append(Key.name, .string(name)) }
        return .document(document)
    }

    /// Reads a reference; `nil` for another value.
    ///
    /// A length may have any number type.
    public init?(bson value: BSONValue) {
        guard case .document(let document) = value, case .objectID(let id)? = document[Key.id],
            case .binary(let hash)? = document[Key.sha256], hash.bytes.count == 32,
            let length = document[Key.length]?.int64Value, length >= 0
        else { return nil }
        self.init(
            id: id, sha256: hash.bytes, length: length,
            contentType: document[Key.contentType]?.stringValue,
            name: document[Key.name]?.stringValue)
    }

    /// Whether both are references to the same content; they may differ in name and type.
    package func hasContent(of other: Attachment) -> Bool {
        id == other.id && sha256 == other.sha256 && length == other.length
    }

    /// Returns the document's reference to the content of this one; `nil` where it has none.
    ///
    /// Where it has several, the one that is equal is preferred.
    package func reference(in document: BSONDocument) -> Attachment? {
        let found = Self.all(in: document).filter(hasContent)
        return found.contains(self) ? self : found.first
    }

    /// The deepest level of a document at which a reference is found.
    package static let depthMax = 100

    /// Returns the references in a document, in the order of its fields.
    ///
    /// - Complexity: linear in the size of the document.
    package static func all(in document: BSONDocument) -> [Attachment] {
        var found: [Attachment] = []
        collect(.document(document), 0, &found)
        return found
    }

    private static func collect(_ value: BSONValue, _ depth: Int, _ found: inout [Attachment]) {
        guard depth <= depthMax else { return }
        switch value {
        case .document(let document):
            if let attachment = Attachment(bson: value) { found.append(attachment) }
            for (_, inner) in document { collect(inner, depth + 1, &found) }
        case .array(let array): for inner in array { collect(inner, depth + 1, &found) }
        default: return
        }
    }
}

/// The place of a file: the document whose field refers to it.
///
/// A file belongs to one document. Who reads the document's field may read the file, and who may write
/// the document may store it.
public struct AttachmentPlace: Sendable, Hashable {
    /// The collection of the document.
    public let namespace: Namespace
    /// The document's `_id`.
    public let documentID: BSONValue
    /// The reference to the file.
    public let attachment: Attachment

    /// Creates a place.
    public init(_ namespace: Namespace, documentID: BSONValue, _ attachment: Attachment) {
        self.namespace = namespace
        self.documentID = documentID
        self.attachment = attachment
    }
}
