internal import BSONStore

/// What the device knows about one file.
struct AttachmentRecord: Sendable {
    /// How far a file has come.
    enum Stage: String, Sendable {
        /// Its content is being stored; the reference has no hash yet.
        case arriving
        /// Its content is stored; whether a document refers to it is not known.
        case staged
        /// Its content is stored and has to be sent.
        case toSend
        /// Its content is stored up to ``AttachmentRecord/bytes``, the rest is at the remote.
        case loading
        /// Its content is stored, and the remote has it.
        case here
        /// Its content is being removed.
        case removing
    }

    /// The document that refers to a file.
    struct Owner: Sendable, Hashable {
        let namespace: Namespace
        let documentID: BSONValue
    }

    /// The reference as it is in the document.
    var attachment: Attachment
    var stage: Stage
    /// The document that refers to the file; `nil` until one does.
    var owner: Owner?
    /// The number of bytes that are stored.
    var bytes: Int64
    /// Whether the rest is loaded without being asked for.
    var isWanted = false
    /// The time of the last use, by which files are evicted.
    var used = BSONDatetime.now
    /// Why the remote does not take the file, or why its content was not accepted.
    var problem: String?
    /// Since when the remote does not know or take the file, although its document was there; `nil` if it
    /// does.
    var unknownSince: BSONDatetime?

    /// The place of the file at the remote; `nil` before a document refers to it.
    var place: AttachmentPlace? {
        owner.map { AttachmentPlace($0.namespace, documentID: $0.documentID, attachment) }
    }

    /// Whether a reference is to this content; a forged one may have the same id.
    func isContent(of reference: Attachment) -> Bool { attachment.hasContent(of: reference) }

    /// Whether the content is stored, and the remote may not have it.
    var isUnsent: Bool {
        switch stage {
        case .arriving, .loading, .here, .removing: false
        case .staged, .toSend: true
        }
    }

    /// Whether the whole content is stored.
    var isWhole: Bool {
        switch stage {
        case .arriving, .loading, .removing: false
        case .staged, .toSend, .here: true
        }
    }
}

extension AttachmentRecord {
    /// The fields by which records are found.
    enum Key {
        static let stage = "stage"
        static let database = "database"
        static let collection = "collection"
        static let document = "document"
    }

    /// The record as it is stored.
    var stored: BSONDocument {
        var document: BSONDocument = [
            "_id": .objectID(attachment.id), "attachment": attachment.bsonValue,
            Key.stage: .string(stage.rawValue), "bytes": .int64(bytes), "wanted": .bool(isWanted),
            "used": .datetime(used),
        ]
        if let owner {
            document.append(Key.database, .string(owner.namespace.database))
            document.append(Key.collection, .string(owner.namespace.collection))
            document.append(Key.document, owner.documentID)
        }
        if let problem { document.append("problem", .string(problem)) }
        if let unknownSince { document.append("unknownSince", .datetime(unknownSince)) }
        return document
    }

    /// Reads a stored record.
    ///
    /// - Throws: `SyncError` of code `.storeFailed` for a record that cannot be read.
    init(_ document: BSONDocument) throws(SyncError) {
        guard let attachment = document["attachment"].flatMap({ Attachment(bson: $0) }),
            let stage = document[Key.stage]?.stringValue.flatMap(Stage.init),
            let bytes = document["bytes"]?.int64Value, (0...attachment.length).contains(bytes)
        else {
            throw SyncError(
                .storeFailed,
                "the record of a file cannot be read: \(document.extendedJSON(.relaxed))")
        }
        self.init(attachment: attachment, stage: stage, owner: nil, bytes: bytes)
        if let database = document[Key.database]?.stringValue,
            let collection = document[Key.collection]?.stringValue,
            let id = document[Key.document]
        {
            owner = Owner(namespace: Namespace(database, collection), documentID: id)
        }
        isWanted = document["wanted"] == true
        if case .datetime(let time)? = document["used"] { used = time }
        problem = document["problem"]?.stringValue
        if case .datetime(let time)? = document["unknownSince"] { unknownSince = time }
    }
}
