package import BSONStore
package import StitchSync

/// The files beside documents that `stitchsync serve` or a gateway keeps, by the server's own commands.
package struct ServedAttachments: RemoteAttachments {
    private let collections: MongoCollections

    package init(_ collections: MongoCollections) { self.collections = collections }

    /// A connection carries many requests at once, and the server runs one command of it at a time.
    package var putsAhead: Int { AttachmentPieces.aheadMax }

    package func state(
        of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        try Self.state(await run("stitchsyncAttachmentState", place, [:]))
    }

    package func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        try Self.state(
            await run(
                "stitchsyncPutAttachment", place,
                [
                    "offset": .int64(offset), "data": .binary(BSONBinary(bytes)),
                    "writeConcern": ["w": "majority"],
                ]))
    }

    package func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int
    ) async throws(RemoteError) -> [UInt8]? {
        let reply = try await run(
            "stitchsyncGetAttachment", place,
            ["offset": .int64(offset), "count": .int64(Int64(count))])
        switch reply["data"] {
        case .binary(let data)?: return data.bytes
        case .null?: return nil
        default: throw Self.unreadable
        }
    }

    /// Sends a command; one that a broken connection lost is sent again, which changes nothing.
    private func run(
        _ name: String, _ place: AttachmentPlace, _ arguments: BSONDocument
    ) async throws(RemoteError) -> BSONDocument {
        var command: BSONDocument = [
            name: .string(place.namespace.collection), "document": place.documentID,
            "attachment": place.attachment.bsonValue,
        ]
        for (key, value) in arguments { command.append(key, value) }
        do throws(RemoteError) {
            return try await collections.collection(place.namespace).read(command)
        } catch {
            guard error.code == Self.commandNotFound else { throw error }
            throw RemoteError(
                .rejected, code: error.code,
                "the server does not keep files beside documents; update stitchsync serve")
        }
    }

    private static let commandNotFound = 59

    private static let unreadable = RemoteError(
        .unknown, code: 0, "the server's answer about a file is unreadable")

    private static func state(
        _ reply: BSONDocument
    ) throws(RemoteError) -> RemoteAttachmentState {
        switch reply["state"]?.stringValue {
        case "complete": return .complete
        case "unknown": return .unknown
        case "partial":
            guard let bytes = reply["bytes"]?.int64Value, bytes >= 0 else { throw unreadable }
            return .partial(bytes)
        default: throw unreadable
        }
    }
}
