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

    /// - Parameters:
    ///   - waited: the end of the delay that the client has already waited.
    ///   - mayWait: whether the client may wait for the keys of an identity provider.
    private static func start(
        _ call: CommandCall, _ backend: StoreBackend, waited: ContinuousClock.Instant?,
        mayWait: Bool = true
    ) throws -> CommandOutcome {
        // Read before the current time: a client without a delay may start at once.
        let opening = backend.signIn.opening(call.body, call.database, call.connection)
        let now = backend.server.signIns.now
        // Another attempt has failed meanwhile, so its delay applies, too.
        if opening > max(now, waited ?? now) {
            return .waiting(
                CommandWait(until: opening) {
                    try start(call, backend, waited: opening, mayWait: mayWait)
                })
        }
        do {
            return .reply(
                try backend.signIn.start(
                    call.body, database: call.database, call.connection,
                    began: max(now, waited ?? now), mayWait: mayWait))
        } catch let awaited as AwaitedKeys {
            return .waiting(
                CommandWait(deadline: .now + AwaitedKeys.limit, subscribe: awaited.subscribe) { _ in
                    try start(call, backend, waited: waited, mayWait: false)
                } abandon: {
                })
        } catch let error as DelayedFailure {
            return try error.outcome()
        }
    }
}
