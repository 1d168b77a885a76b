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
            .reply(
                try store.startSignIn(
                    call.body, database: call.database, call.connection))
        })
}
