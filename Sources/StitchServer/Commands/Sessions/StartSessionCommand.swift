internal import BSONStore

/// Starts a logical session.
enum StartSessionCommand {
    static let definition = CommandDefinition(
        "startSession", aliases: [], [],
        fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .store { call, backend in
            let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            let session: BSONDocument = ["id": .binary(BSONBinary(bytes, subtype: 4))]
            let user = call.connection.state.withLock { $0.user }
            try backend.sessions.touch(
                SessionTable.own(session, of: user), of: call.connection.sessionOwner)
            return .reply([
                "id": .document(session),
                "timeoutMinutes": .int32(Int32(call.server.settings.sessionTimeoutMinutes)),
            ])
        })
}
