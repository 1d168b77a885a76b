internal import BSONStore

/// Records the commands on a database in its collection `system.profile`, if profiling is on.
///
/// Source: MongoDB manual, "profile".
enum ProfileCommand {
    static let definition = CommandDefinition(
        "profile", aliases: [], [],
        fields: ["slowms": .number, "sampleRate": .number, "filter": .any], required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    /// The size of the capped profile collection in bytes.
    private static let bytesMax = 1024 * 1024

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let before = call.server.state.withLock { $0.profiling[call.database] ?? 0 }
        if let level = call.target.wholeNumber, (0...2).contains(level) {
            let namespace = Namespace(call.database, "system.profile")
            if level > 0 {
                try backend.write(call) { transaction in
                    guard try transaction.options(namespace) == nil else { return }
                    try transaction.createCollection(
                        namespace,
                        CollectionOptions(
                            ["capped": true, "size": .int32(Int32(bytesMax))]))
                }
            }
            call.server.state.withLock { $0.profiling[call.database] = level }
        }
        return .reply([
            "was": .int32(Int32(before)), "slowms": 100, "sampleRate": 1.0,
        ])
    }
}
