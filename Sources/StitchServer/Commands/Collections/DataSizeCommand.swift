internal import BSONStore

/// Reports the total size of a collection's documents.
enum DataSizeCommand {
    static let definition = CommandDefinition(
        "dataSize", aliases: ["datasize"], [],
        fields: [
            "keyPattern": .document, "min": .document, "max": .document, "estimate": .flag,
        ], required: [],
        privileges: .access(.read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try Namespace(parsing: call.target.stringValue ?? "")
        guard namespace.database.hasSameBytes(as: call.database) else {
            throw CommandFailure(13, "dataSize may only be run against the collection's database")
        }
        let usage = try backend.read(call) { try CollectionUsage(namespace, $0) }
        return .reply([
            "estimate": .bool(call.flag("estimate")), "size": .int64(Int64(usage.bytes)),
            "numObjects": .int64(Int64(usage.count)), "millis": .int64(0),
        ])
    }
}
