internal import BSONStore
internal import StitchRules

/// The arguments of a command on a file beside a document.
struct AttachmentRequest: Sendable {
    /// The part of the file that a command reads.
    struct Part: Sendable {
        let offset: Int64
        let count: Int
    }

    /// The longest file, in bytes.
    private static let lengthMax: Int64 = 16 << 30

    let place: AttachmentPlace
    private let call: CommandCall

    /// - Throws: 73 (InvalidNamespace), 2 (BadValue) for an invalid reference.
    init(_ call: CommandCall) throws(CommandFailure) {
        self.call = call
        guard let reference = call["attachment"], let attachment = Attachment(bson: reference)
        else {
            throw CommandFailure(
                .badValue,
                "attachment is not a reference to a file: it needs the fields attachment "
                    + "(an ObjectId), sha256 (32 bytes) and length")
        }
        guard attachment.length <= Self.lengthMax else {
            throw CommandFailure(
                .badValue,
                "the file has \(attachment.length) bytes; at most \(Self.lengthMax) are stored")
        }
        place = AttachmentPlace(
            try call.collection(), documentID: call.body["document"] ?? .null, attachment)
    }

    /// The bucket of the command's database.
    var bucket: AttachmentBucket { AttachmentBucket(database: call.database) }

    /// Whether the user may read the file, or store it if the command writes.
    ///
    /// - Parameters:
    ///   - document: the stored document; `nil` for none.
    ///   - ruleGuard: the user's rules; `nil` for none.
    func isAllowed(
        _ document: BSONDocument?, under ruleGuard: RuleAccessPolicy?
    ) -> Bool {
        guard let document else { return false }
        let attachment = place.attachment
        guard let access = ruleGuard?.access(place.namespace) else {
            return attachment.reference(in: document) != nil
        }
        return call.signature.traits.contains(.writes)
            ? access.takes(attachment, in: document) : access.shows(attachment, in: document)
    }

    /// The bytes to store, and their place in the file.
    ///
    /// - Throws: 14 (TypeMismatch) for other values than bytes, 2 (BadValue) for too many.
    func bytes() throws(CommandFailure) -> (bytes: [UInt8], offset: Int64) {
        guard case .binary(let data)? = call["data"] else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '\(call.name).data' is the wrong type "
                    + "'\((call.body["data"] ?? .null).type.alias)', expected type 'binData'")
        }
        let count = data.bytes.count
        guard count <= AttachmentBucket.pieceSizeMax else {
            throw CommandFailure(
                .badValue,
                "data has \(count) bytes; at most \(AttachmentBucket.pieceSizeMax) are stored at "
                    + "once")
        }
        return (data.bytes, Int64(try call.count("offset") ?? 0))
    }

    /// The part to read, of which a reply holds a limited number of bytes.
    ///
    /// - Throws: 2 (BadValue) for negative numbers.
    func part() throws(CommandFailure) -> Part {
        Part(
            offset: Int64(try call.count("offset") ?? 0),
            count: min(
                try call.count("count") ?? AttachmentBucket.pieceSizeMax,
                AttachmentBucket.pieceSizeMax))
    }

    /// Counts the memory of a part that is read.
    ///
    /// - Throws: 292 when all commands together hold too much.
    static func holding(_ part: Part) throws -> MemoryHolding? {
        let memory = MemoryHolding.begin("a part of a file")
        try memory?.add(part.count)
        return memory
    }

    /// Returns the reply that names a state; `nil` is that of a file of which the user may not know.
    func reply(_ state: AttachmentBucket.State?) -> CommandOutcome {
        switch state {
        case .complete: Self.reply("complete", place.attachment.length)
        case .partial(let count): Self.reply("partial", count)
        case .foreign, nil: Self.reply("unknown", 0)
        }
    }

    private static func reply(_ state: String, _ bytes: Int64) -> CommandOutcome {
        .reply(["state": .string(state), "bytes": .int64(bytes)])
    }

    /// Returns the reply with bytes; `nil` for a file that is not there, or that the user may not read.
    static func reply(_ bytes: [UInt8]?) -> CommandOutcome {
        .reply(["data": bytes.map { .binary(BSONBinary($0)) } ?? .null])
    }
}
