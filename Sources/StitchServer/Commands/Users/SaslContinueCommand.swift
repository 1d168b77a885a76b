internal import BSONStore

/// Continues a sign-in.
///
/// Source: the drivers' specification "Authentication".
enum SaslContinueCommand {
    static let rule = CommandDefinition(
        "saslContinue", [.unauthenticated, .stable, .signsIn],
        fields: ["conversationId": .number, "payload": .any],
        required: ["conversationId", "payload"],
        .store { call, store in
            do {
                return .reply(try store.signIn.proceed(call.body, call.connection))
            } catch let error as DelayedFailure {
                return try error.outcome()
            }
        })
}
