internal import BSONStore

/// The commands by which users look at, and end, the sign-ins of their own connections at this
/// server or gateway.
enum OwnSignInCommands {
    /// Lists the sender's connections: `{stitchsyncSessions: 1}`.
    static let list = CommandDefinition(
        "stitchsyncSessions", aliases: [], [.outsideRules], fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let sessions = try connections(call).map { BSONValue.document(shown($0, call)) }
            return .reply(["sessions": .array(BSONArray(sessions))])
        })

    /// Ends the sign-in of one of the sender's connections: `{stitchsyncEndSession: 7}`.
    static let end = CommandDefinition(
        "stitchsyncEndSession", aliases: [], [.outsideRules], fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let number = call.target.wholeNumber
            let found = try call.loggingRefusal {
                guard let found = try connections(call).first(where: { Int($0.id) == number })
                else { throw CommandFailure(206, "the user has no such session at this server") }
                return found
            }
            found.state.withLock { $0.isSignInEnded = true }
            call.server.settings.log.write(
                .info,
                "connection \(call.connection.id) ended the sign-in of connection \(found.id)")
            return .ok
        })

    /// Returns the connections of the sender, the oldest first.
    private static func connections(_ call: CommandCall) throws -> [ClientConnection] {
        let own = try SignedInUser.sender(of: call).storedID
        return call.server.connections.withLock { Array($0.values) }
            .filter { connection in
                connection.state.withLock { state in
                    !state.isSignInEnded && state.user?.storedID.hasSameBytes(as: own) == true
                }
            }
            .sorted { $0.id < $1.id }
    }

    private static func shown(_ connection: ClientConnection, _ call: CommandCall) -> BSONDocument {
        let state = connection.state.withLock { $0 }
        let client = state.client ?? [:]
        let driver = client["driver"]?.documentValue?["name"]
        let system = client["os"]?.documentValue?["type"]
        let age = (ContinuousClock.now - state.lastUsed).milliseconds
        return [
            "id": .int32(connection.id),
            "device": [
                "application": .string(state.applicationName ?? ""), "driver": driver ?? "",
                "platform": client["platform"] ?? "", "os": system ?? "",
            ],
            "since": state.signedInAt.map { .datetime($0) } ?? .null,
            "lastSeen": .datetime(
                BSONDatetime(milliseconds: BSONDatetime.now.milliseconds - age)),
            "isThisOne": .bool(connection.id == call.connection.id),
        ]
    }
}
