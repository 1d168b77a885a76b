internal import BSONStore

/// Renames a collection.
enum RenameCollectionCommand {
    static let definition = CommandDefinition(
        "renameCollection", aliases: [], [.adminOnly, .writes, .takesWriteConcern],
        fields: ["to": .string, "dropTarget": .any, "stayTemp": .flag, "collectionUUID": .any],
        required: ["to"],
        privileges: .arguments(orElse: .collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .parsed { call, _ in
            let request = Result<RenameRequest, any Error> { try RenameRequest(call) }
            let needs = request.map {
                [$0.source, $0.target].map { AccessNeed(.collections, to: $0) }
            }
            return ParsedCommand(needs: needs.value ?? [], fault: request.fault) {
                try run(request.get(), call, $0)
            }
        })

    private static func run(
        _ request: RenameRequest, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> CommandOutcome {
        let (source, target) = (request.source, request.target)
        if source != target { try check(source, target) }
        let mustDrop = call["dropTarget"]
        let namesTarget = mustDrop?.type == .binary
        for (field, isGiven) in [
            ("collectionUUID", call["collectionUUID"] != nil), ("dropTarget", namesTarget),
        ] where isGiven && source.database != target.database {
            throw CommandFailure(
                .invalidOptions,
                "The \(field) parameter cannot be used when renaming a collection between "
                    + "databases")
        }
        let faults = try backend.write(call) { transaction in
            var faults = [
                source: CommandFailure.renamed(
                    source, to: target, try transaction.uuid(source))
            ]
            if let uuid = try transaction.uuid(target) { faults[target] = .dropped(uuid) }
            try transaction.renameCollection(
                source, to: target, dropTarget: namesTarget || mustDrop?.isTrue ?? false)
            return faults
        }
        backend.cursors.end(faults)
        return .ok
    }

    /// Refuses names that the server reserves.
    ///
    /// - Throws: 20 (IllegalOperation).
    ///
    /// Source: the server's `rename_collection.cpp`.
    private static func check(_ source: Namespace, _ target: Namespace) throws(CommandFailure) {
        guard source.collection != "system.views", target.collection != "system.views" else {
            throw CommandFailure(
                .illegalOperation,
                "renaming system.views collection or renaming to system.views is not allowed")
        }
        try checkWritable(source, as: "source")
        try checkWritable(target, as: "target")
        guard (source.database == "local") == (target.database == "local") else {
            throw CommandFailure(
                .illegalOperation,
                "Cannot rename collections between a replicated and an unreplicated database")
        }
    }

    private static func checkWritable(
        _ namespace: Namespace, as role: String
    ) throws(CommandFailure) {
        do throws(CommandFailure) {
            try namespace.checkWritable()
        } catch {
            throw CommandFailure(
                .illegalOperation, "error with \(role) namespace: \(error.message)")
        }
    }
}

/// The source and target of a rename.
struct RenameRequest: Sendable {
    let source: Namespace
    let target: Namespace

    /// - Throws: 73 (InvalidNamespace) for an invalid name, 20 for a target that is too long.
    init(_ call: CommandCall) throws {
        guard let from = call.target.stringValue else {
            throw CommandFailure(
                .invalidNamespace,
                "collection name has invalid type \(call.target.type.alias)")
        }
        source = try Namespace(parsing: from)
        let name = call.string("to") ?? ""
        guard name.utf8.count <= Namespace.bytesMax else {
            throw CommandFailure(
                .illegalOperation, "error with target namespace: \(Namespace.tooLong(name).message)"
            )
        }
        target = try Namespace(parsing: name)
    }
}
