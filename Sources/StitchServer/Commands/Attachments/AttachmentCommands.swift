internal import BSONStore

/// The commands on files beside documents, which are stored in GridFS's format.
///
/// A user under rules reads the files whose references the user reads, and stores those whose
/// references the user also may change, or whose documents the user may insert as they are. About other
/// files the answer is that for a file of a document that does not exist.
enum AttachmentCommands {
    /// Returns how much of a file is stored.
    ///
    /// `{stitchsyncAttachmentState: "todos", document: <_id>, attachment: <reference>}` returns
    /// `state` ("partial", "complete" or "unknown") and `bytes`.
    static let state = definition(
        "stitchsyncAttachmentState", [.checksReadPreference], [:], .read
    ) { call, backend in
        let request = try AttachmentRequest(call)
        return request.reply(
            try read(request, call, backend) {
                try request.bucket.state(of: request.place, in: $0)
            })
    }

    /// Stores the next bytes of a file.
    ///
    /// `{stitchsyncPutAttachment: "todos", document: <_id>, attachment: <reference>, offset: 0,
    /// data: <bytes>}` returns the state afterwards.
    static let put = definition(
        "stitchsyncPutAttachment", [.writes, .takesWriteConcern],
        ["offset": .number, "data": .any], .write
    ) { call, backend in
        let request = try AttachmentRequest(call)
        let (bytes, offset) = try request.bytes()
        let ruleGuard = try backend.rules.ruleGuard(call)
        // Before the write, for which other writers would have to wait.
        let proof = try read(request, call, backend) {
            try request.bucket.proof(completing: bytes, at: offset, of: request.place, in: $0)
        }
        let state = try backend.write(call) { transaction -> AttachmentBucket.State? in
            try transaction.withAccessPolicy(nil) {
                let document = try transaction.get(
                    request.place.namespace, id: request.place.documentID)
                guard request.isAllowed(document, under: ruleGuard) else { return nil }
                return try request.bucket.put(
                    bytes, at: offset, of: request.place, proof: proof ?? nil, in: transaction)
            }
        }
        return request.reply(state)
    }

    /// Returns bytes of a file.
    ///
    /// `{stitchsyncGetAttachment: "todos", document: <_id>, attachment: <reference>, offset: 0,
    /// count: 261120}` returns `data`, or null where the whole file is not there.
    static let get = definition(
        "stitchsyncGetAttachment", [.checksReadPreference],
        ["offset": .number, "count": .number], .read
    ) { call, backend in
        let request = try AttachmentRequest(call)
        let part = try request.part()
        let bytes = try read(request, call, backend) { transaction in
            let memory = try AttachmentRequest.holding(part)
            return try withExtendedLifetime(memory) {
                try request.bucket.read(
                    request.place, from: part.offset, count: part.count, in: transaction)
            }
        }
        return AttachmentRequest.reply(bytes ?? nil)
    }

    private static func definition(
        _ name: String, _ traits: CommandSignature.Traits,
        _ fields: KeyValuePairs<String, FieldKind>,
        _ access: Role.Access,
        _ run: @escaping @Sendable (CommandCall, StoreBackend) throws -> CommandOutcome
    ) -> CommandDefinition {
        CommandDefinition(
            name, aliases: [], traits,
            fields: Dictionary(
                uniqueKeysWithValues: [("document", .any), ("attachment", .document)]
                    + fields.map { ($0.key, $0.value) }),
            required: ["document", "attachment"] + fields.map(\.key),
            privileges: .access(access), underRules: .attachments, gateway: .attachments,
            statements: nil, cursor: .none, .store(run))
    }

    /// Runs a body outside of the rules, which hide the bucket; `nil` where the user may not read the
    /// file.
    private static func read<R>(
        _ request: AttachmentRequest, _ call: CommandCall, _ backend: StoreBackend,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R? {
        let ruleGuard = try backend.rules.ruleGuard(call)
        return try backend.read(call) { transaction in
            try transaction.withAccessPolicy(nil) {
                let document = try transaction.get(
                    request.place.namespace, id: request.place.documentID)
                guard request.isAllowed(document, under: ruleGuard) else { return nil }
                return try body(transaction)
            }
        }
    }
}
