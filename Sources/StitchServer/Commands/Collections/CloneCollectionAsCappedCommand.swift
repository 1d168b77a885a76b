internal import BSONStore

/// Copies a collection into a new capped collection of the same database.
///
/// Source: MongoDB manual, "cloneCollectionAsCapped"; functional-tests, cloneCollectionAsCapped.
enum CloneCollectionAsCappedCommand {
    static let definition = CommandDefinition(
        "cloneCollectionAsCapped", aliases: [], [.writes, .takesWriteConcern],
        fields: ["toCollection": .any, "size": .any], required: [],
        privileges: .access(.collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let source = try call.collection()
        let target = try call.namespace(call.string("toCollection") ?? "")
        try source.check()
        try target.check()
        try checkCreatable(target)
        guard let size = call.number("size"), size > 0 else {
            throw CommandFailure(
                .invalidOptions, "Capped collection size must be greater than zero")
        }
        let copy = CappedCopy(source: source, target: target, size: size)
        try backend.write(call) { try copy.make(call, $0) }
        return .ok
    }

    /// Checks the target's name: the right to make collections is not the right to make users.
    ///
    /// - Throws: 73 (InvalidNamespace).
    private static func checkCreatable(_ target: Namespace) throws(CommandFailure) {
        try target.checkCreatable()
        guard ["admin", "config", "local"].contains(target.database),
            target.collection.hasBytePrefix("system.")
        else { return }
        throw CommandFailure(.invalidNamespace, "Invalid system namespace: \(target)")
    }
}
