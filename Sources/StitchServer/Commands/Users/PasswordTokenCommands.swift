internal import BSONStore

/// The commands that give a user a new password by a token, as when the old one is forgotten.
enum PasswordTokenCommands {
    /// How long a token can be valid, in minutes: up to a week.
    static let minutes = 1...10_080
    private static let usualMinutes = 60

    /// Makes a token, for an administrator of users who then sends it to the user.
    ///
    /// `{stitchsyncMakePasswordToken: "ann", minutes: 60}`.
    static let make = CommandDefinition(
        "stitchsyncMakePasswordToken", aliases: [], [.takesWriteConcern],
        fields: ["minutes": .number], required: [],
        privileges: .access(.userAdministration), underRules: .refused, gateway: .users(.named),
        statements: nil, cursor: .none,
        .store { call, backend in
            try call.loggingRefusal { try make(call, backend) }
        })

    private static func make(
        _ call: CommandCall, _ backend: StoreBackend
    ) throws -> CommandOutcome {
        try PasswordCheck.requireEncryption(call)
        let minutes = call.number("minutes") ?? usualMinutes
        guard Self.minutes.contains(minutes) else {
            throw CommandFailure(.badValue, "minutes must be between 1 and 10080")
        }
        let end = BSONDatetime(
            milliseconds: BSONDatetime.now.milliseconds + Int64(minutes) * 60_000)
        let (text, token) = PasswordToken.make(until: end)
        let (name, database) = (call.target.stringValue ?? "", call.database)
        try backend.changeUsers(call) { transaction in
            let id = BSONValue.string(User.id(name, database))
            guard
                var user = try transaction.get(User.namespace, id: id).flatMap(User.init)
            else { throw CommandFailure(11, "User '\(name)@\(database)' not found") }
            guard !user.credentials.isEmpty else { throw PasswordCheck.hasNone }
            user.passwordToken = token
            try transaction.put(User.namespace, user.stored)
        }
        call.server.settings.log.write(
            .info, "connection \(call.connection.id) made a token for a new password")
        return .reply(["token": .string(text), "expires": .datetime(end)])
    }

    /// Sets a password by a token, once, and ends the user's sign-ins; it needs no sign-in.
    ///
    /// `{stitchsyncSetPassword: "ann", token: "…", pwd: "…"}`. The reply takes as long whether the
    /// user and the token exist or not.
    static let set = CommandDefinition(
        "stitchsyncSetPassword", aliases: [],
        [.unauthenticated, .takesWriteConcern, .outsideRules],
        fields: ["token": .string, "pwd": .string], required: ["token", "pwd"],
        privileges: .access(.read), underRules: .harmless, gateway: .users(.named),
        statements: nil, cursor: .none,
        .store { call, backend in
            let began = call.server.signIns.now
            let password = try call.loggingRefusal {
                try PasswordCheck.requireEncryption(call)
                return try PasswordCheck.newPassword(call)
            }
            let result = Result { try setPassword(password, began: began, call, backend) }
            var end = began + StitchsyncSignUpCommand.replyDelay
            if case .failure(let error) = result, let delayed = error as? DelayedFailure {
                end = max(end, delayed.until)
            }
            return .waiting(
                CommandWait(until: end) {
                    do {
                        try result.get()
                        return .ok
                    } catch let error as DelayedFailure {
                        throw error.fault
                    }
                })
        })

    private static func setPassword(
        _ password: String, began: ContinuousClock.Instant, _ call: CommandCall,
        _ backend: StoreBackend
    ) throws {
        let log = call.server.settings.log
        let name = call.target.stringValue ?? ""
        let id = BSONValue.string(User.id(name, call.database))
        let given = call.string("token") ?? ""
        let key = SignInDelay.key(
            user: name, database: call.database, peer: call.connection.peer)
        do {
            let stored = try backend.read(call) { try $0.get(User.namespace, id: id) }
            let known = stored.flatMap(User.init)
            try call.server.signIns.judge(key, began: began) {
                guard known?.passwordToken?.accepts(given, at: .now) == true else {
                    throw ScramConversation.failed
                }
            }
            guard var user = known else { throw ScramConversation.failed }
            try user.setPassword(password, ScramMechanism.allCases)
            user.endSignIns()
            let changed = user.stored
            try backend.changeUsers(call) { transaction in
                // Another client may have used the token since it was checked.
                guard try transaction.get(User.namespace, id: id) == stored else {
                    throw ScramConversation.failed
                }
                try transaction.put(User.namespace, changed)
            }
            log.write(.info, "connection \(call.connection.id) set a password by a token")
        } catch {
            log.write(
                .warning,
                "a token for a new password was refused on connection \(call.connection.id) from "
                    + call.connection.peer)
            throw error
        }
    }
}
