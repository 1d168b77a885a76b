/// Where in a bucket the file of a place is, or may be stored.
///
/// Usually a file's `_id` is the id in the reference. Whoever reads a reference may write another one
/// with the same id and another content, or begin to store it for another document; so where the id is
/// taken, the file has an `_id` of its own, which is made of the place and the content.
package enum AttachmentSpot: Sendable {
    /// The whole file, by its document in GridFS.
    case complete(BSONDocument)
    /// The `_id`s by which it may be stored, in order of preference; none while it is being removed, or
    /// for a copy of a reference to another document's file.
    case open([BSONValue])

    /// Decides by the documents of the files that have one of the `_id`s of a place.
    package init(of place: AttachmentPlace, among files: [BSONDocument]) {
        if let file = files.first(where: { AttachmentBucket.describes($0, place) }) {
            self = .complete(file)
            return
        }
        let (usual, own) = (Self.usualID(of: place), Self.ownID(of: place))
        func file(_ id: BSONValue) -> BSONDocument? { files.first { $0["_id"] == id } }
        let isOwnFree = file(own) == nil
        if let taken = file(usual) {
            let keepsOut = Self.isBeingRemoved(taken) || AttachmentBucket.hasContent(taken, place)
            self = .open(keepsOut || !isOwnFree ? [] : [own])
        } else {
            self = .open([usual] + (isOwnFree ? [own] : []))
        }
    }

    /// The `_id`s that the file of a place may have.
    package static func ids(of place: AttachmentPlace) -> [BSONValue] {
        [usualID(of: place), ownID(of: place)]
    }

    /// The id in the reference.
    package static func usualID(of place: AttachmentPlace) -> BSONValue {
        .objectID(place.attachment.id)
    }

    /// The length and the subtype of an `_id` that is made of a place.
    private static let (ownLength, ownSubtype) = (32, 128 as UInt8)

    private static func ownID(of place: AttachmentPlace) -> BSONValue {
        let parts: BSONDocument = [
            "collection": .string(place.namespace.collection), "document": place.documentID,
            "attachment": .objectID(place.attachment.id),
            "sha256": .binary(BSONBinary(place.attachment.sha256)),
            "length": .int64(place.attachment.length),
        ]
        return .binary(
            BSONBinary(SHA256.hash(BSONKey.encode(.document(parts))), subtype: ownSubtype))
    }

    /// Whether the `_id` is one that this library gives to files; drivers give others as well.
    package static func isID(_ id: BSONValue) -> Bool {
        switch id {
        case .objectID: true
        case .binary(let id): id.subtype == ownSubtype && id.bytes.count == ownLength
        default: false
        }
    }

    /// Returns the id in the reference to a stored file; `nil` for the file of another program.
    package static func referenceID(of file: BSONDocument) -> BSONObjectID? {
        let named = file["metadata"]?.documentValue?[referenceField] ?? file["_id"]
        guard case .objectID(let id)? = named else { return nil }
        return id
    }

    /// The field of `metadata` with the id in the reference, where the `_id` is another.
    static let referenceField = "attachment"

    private static func isBeingRemoved(_ file: BSONDocument) -> Bool {
        let metadata = file["metadata"]?.documentValue
        return metadata?["claimedAt"] != nil || metadata?["removedAt"] != nil
    }
}
