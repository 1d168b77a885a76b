internal import BSONStore

/// Continues a sign-in.
///
/// Source: the drivers' specification "Authentication".
enum SaslContinueCommand {
    static let definition = CommandDefinition(
        "saslContinue", aliases: [], [.unauthenticated, .stable, .signsIn, .vital],
        fields: ["conversationId": .number, "payload": .any],
        required: ["conversationId", "payload"],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .store { call, backend in
            do {
                return .reply(try backend.signIn.proceed(call.body, call.connection))
            } catch let error as DelayedFailure {
                return try error.outcome()
            }
        })
}
