internal import BSONStore

/// Begins to sign a user in.
///
/// Source: the drivers' specification "Authentication".
enum SaslStartCommand {
    static let rule = CommandRule(
        "saslStart", [.unauthenticated, .stable],
        fields: [
            "mechanism": .string, "payload": .any, "autoAuthorize": .any, "db": .string,
            "options": .document,
        ], required: ["mechanism", "payload"],
        .store { call, store in
            let start: @Sendable () throws -> CommandOutcome = {
                do {
                    return .reply(
                        try store.startSignIn(
                            call.body, database: call.database, call.connection))
                } catch let error as DelayedFault {
                    return try error.outcome()
                }
            }
            let opening = store.opening(call.body, call.database, call.connection)
            guard opening > .now else { return try start() }
            return .waiting(CommandWait(until: opening, start))
        })
}
