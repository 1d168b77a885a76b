internal import BSONStore

/// Gives a collection another name.
enum RenameCollectionCommand {
    static let rule = CommandRule(
        "renameCollection", [.adminOnly, .writes, .takesWriteConcern],
        fields: ["to": .string, "dropTarget": .any, "stayTemp": .flag, "collectionUUID": .any],
        required: ["to"], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        guard let from = call.target.stringValue else {
            throw CommandFault(
                .invalidNamespace,
                "collection name has invalid type \(call.target.type.serverName)")
        }
        let source = try Namespace(parsing: from)
        let target = try Namespace(parsing: call.string("to") ?? "")
        try store.write(call) {
            try $0.renameCollection(
                source, to: target, dropTarget: call["dropTarget"]?.isTrue ?? false)
        }
        store.cursors.kill(database: source.database, collection: source.collection)
        return .ok
    }
}
