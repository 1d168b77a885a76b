internal import BSONStore

/// Starts a sign-in.
///
/// Source: the drivers' specification "Authentication".
enum SaslStartCommand {
    static let definition = CommandDefinition(
        "saslStart", aliases: [], [.unauthenticated, .stable, .signsIn, .vital],
        fields: [
            "mechanism": .string, "payload": .any, "autoAuthorize": .any, "db": .string,
            "options": .document,
        ], required: ["mechanism", "payload"],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .store { call, backend in try start(call, backend, waited: nil) })

    /// - Parameter waited: the end of the delay that the client has already waited.
    private static func start(
        _ call: CommandCall, _ backend: StoreBackend, waited: ContinuousClock.Instant?
    ) throws -> CommandOutcome {
        // Read before the current time: a client without a delay may start at once.
        let opening = backend.signIn.opening(call.body, call.database, call.connection)
        let now = backend.server.signIns.now
        // Another attempt has failed meanwhile, so its delay applies, too.
        if opening > max(now, waited ?? now) {
            return .waiting(
                CommandWait(until: opening) { try start(call, backend, waited: opening) })
        }
        do {
            return .reply(
                try backend.signIn.start(
                    call.body, database: call.database, call.connection,
                    began: max(now, waited ?? now)))
        } catch let error as DelayedFailure {
            return try error.outcome()
        }
    }
}
