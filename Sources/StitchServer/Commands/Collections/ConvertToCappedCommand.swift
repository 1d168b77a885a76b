internal import BSONStore

/// Makes a collection capped, so that it drops its oldest documents; removes its indexes.
///
/// Source: MongoDB manual, "convertToCapped".
enum ConvertToCappedCommand {
    static let definition = CommandDefinition(
        "convertToCapped", aliases: [], [.writes, .takesWriteConcern],
        fields: ["size": .number, "capped": .any, "collectionUUID": .any], required: ["size"],
        privileges: .access(.collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        guard let size = call.number("size"), size > 0 else {
            throw CommandFailure(
                .invalidOptions, "Capped collection size must be greater than zero")
        }
        let uuid = try backend.write(call) { transaction in
            let capped = Namespace(
                namespace.database, "tmp\(BSONObjectID()).convertToCapped.\(namespace.collection)")
            try CappedCopy(source: namespace, target: capped, size: size).make(call, transaction)
            let uuid = try transaction.uuid(namespace)
            try transaction.renameCollection(capped, to: namespace, dropTarget: true)
            return uuid
        }
        backend.cursors.end([namespace: .dropped(uuid)])
        return .ok
    }
}
