internal import BSONStore
internal import StitchRules

/// Stores conflicts of a device for the administrators.
///
/// `{stitchsyncShareConflict: "todos", conflicts: [<the bytes of a document>, …]}` returns the number `n` of
/// conflicts. Under rules, an edition that the user may not see is removed and named in `hidden`, and
/// of the others the fields that the user may not read.
enum StitchsyncShareConflictCommand {
    static let definition = CommandDefinition(
        "stitchsyncShareConflict", aliases: [], [],
        fields: ["conflicts": .array], required: ["conflicts"],
        privileges: .access(.write), underRules: .harmless, gateway: .conflicts,
        statements: nil, cursor: .none,
        .store { call, backend in
            let conflicts = try conflicts(call, backend.rules.ruleGuard(call))
            try StoredConflicts(store: backend.store).add(
                conflicts, in: backend.runner.turn)
            return .reply(["n": .int32(Int32(clamping: conflicts.count))])
        })

    /// The maximum number of conflicts in one command.
    private static let countMax = 100
    /// The maximum number of bytes of one conflict.
    private static let bytesMax = 64 * 1024
    /// The maximum number of bytes of a text or value that is not an edition.
    private static let valueBytesMax = 1_024
    private static let editions = ["base", "local", "remote", "result"]
    private static let values = [
        "time", "documentID", "decision", "code", "mayHaveLanded", "appVersion", "baseVersion",
        "remoteVersion",
    ]

    /// Returns the documents to store for the conflicts of a command.
    ///
    /// - Throws: 2 (BadValue) for too many or invalid ones, 73 (InvalidNamespace).
    static func conflicts(
        _ call: CommandCall, _ ruleGuard: RuleAccessPolicy?
    ) throws -> [BSONDocument] {
        let namespace = try call.collection()
        let sent = call.array("conflicts") ?? []
        guard sent.count <= countMax else {
            throw CommandFailure(
                .badValue, "conflicts has \(sent.count) elements; at most \(countMax) are taken")
        }
        let user = ruleGuard?.user.id ?? call.connection.state.withLock { $0.user?.ruleID }
        return try sent.map { value in
            guard case .binary(let binary) = value, binary.bytes.count <= bytesMax else {
                throw CommandFailure(
                    .badValue, "a conflict is the bytes of a document of at most \(bytesMax) bytes")
            }
            return try document(
                BSONDocument(validating: binary.bytes, limits: BSONLimits()), namespace,
                user: user, ruleGuard?.access(namespace))
        }
    }

    private static func document(
        _ sent: BSONDocument, _ namespace: Namespace, user: String?, _ access: RuleAccess?
    ) throws -> BSONDocument {
        guard case .objectID(let id)? = sent["_id"] else {
            throw CommandFailure(.badValue, "the _id of a conflict is an ObjectId")
        }
        var document: BSONDocument = [
            "_id": .objectID(id), "namespace": .string(namespace.description),
            "user": user.map { BSONValue.string(String($0.unicodeScalars.prefix(256))) } ?? .null,
            "received": .datetime(.now),
        ]
        for name in values {
            guard let value = sent[name] else { continue }
            let measured: BSONDocument = ["": value]
            guard measured.byteCount <= valueBytesMax else {
                throw CommandFailure(
                    .badValue, "the field \(name) of a conflict has over \(valueBytesMax) bytes")
            }
            document.append(name, value)
        }
        var hidden: [BSONValue] = []
        for name in editions {
            guard let edition = sent[name]?.documentValue else { continue }
            if let visible = access.map({ $0.visible(edition) }) ?? edition {
                document.append(name, .document(visible))
            } else {
                hidden.append(.string(name))
            }
        }
        if !hidden.isEmpty { document.append("hidden", .array(BSONArray(hidden))) }
        return document
    }
}
