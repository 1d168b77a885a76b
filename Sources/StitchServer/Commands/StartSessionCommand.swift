internal import BSONStore

/// Begins a logical session.
enum StartSessionCommand {
    static let rule = CommandRule(
        "startSession", [], fields: [:],
        .store { call, store in
            let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            let session: BSONDocument = ["id": .binary(BSONBinary(bytes, subtype: 4))]
            store.sessions.touch(session)
            return .reply([
                "id": .document(session),
                "timeoutMinutes": .int32(Int32(call.server.settings.sessionTimeoutMinutes)),
            ])
        })
}
