internal import BSONStore

/// Sends a token for a forgotten password to the user, as the operator set it up; it needs no sign-in.
///
/// `{stitchsyncRequestPasswordToken: "ann", $db: "shop"}`. The reply and its time are the same whether
/// the user exists or not.
enum StitchsyncRequestPasswordTokenCommand {
    static let definition = CommandDefinition(
        "stitchsyncRequestPasswordToken", aliases: [],
        [.unauthenticated, .takesWriteConcern, .outsideRules], fields: [:], required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .users(.named),
        statements: nil, cursor: .none, .store(run))

    /// The time for which a token is valid, in minutes.
    private static let minutes: Int64 = 60
    /// The time for which a user receives no second token, in minutes: a stranger who asks again and
    /// again cannot fill a mailbox.
    private static let quietMinutes: Int64 = 5

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let began = ContinuousClock.now
        let name = call.target.stringValue ?? ""
        let mailer = try call.loggingRefusal { try usableMailer(for: name, call) }
        call.server.settings.log.write(
            .info, "connection \(call.connection.id) asked for a token for a new password")
        let message = Locked(try message(name, call, backend))
        // After the delay, when a gateway's upstream has the token as well.
        let send: @Sendable () -> Void = {
            let message = message.withLock { message in
                defer { message = nil }
                return message
            }
            if let message { mailer.send(message) }
        }
        return .waiting(
            CommandWait(
                deadline: began + StitchsyncSignUpCommand.replyDelay,
                again: { _ in
                    send()
                    return .ok
                }, abandon: send))
    }

    /// Returns the place to which the message goes.
    ///
    /// - Throws: 59 (CommandNotFound) on a server that sends none, 2 (BadValue), 13 (Unauthorized)
    ///   without encryption over a network, 462 beyond the limits.
    private static func usableMailer(
        for name: String, _ call: CommandCall
    ) throws -> PasswordMailer {
        guard let mailer = call.server.mailer else {
            throw CommandFailure(
                59, "no such command: '\(call.name)' (the server runs without --password-mail)")
        }
        try PasswordCheck.requireEncryption(call)
        try StitchsyncSignUpCommand.check(name, on: call.database)
        try mailer.requests.admit(peer: call.connection.peer)
        return mailer
    }

    /// Stores a new token and returns the message with it; `nil` for a user who receives none.
    ///
    /// A failed write is logged: reported, it would tell that the user exists.
    private static func message(
        _ name: String, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> PasswordMail.Message? {
        let (id, now) = (BSONValue.string(User.id(name, call.database)), BSONDatetime.now)
        let stored = try backend.read(call) { try $0.get(User.namespace, id: id) }
        guard let user = stored.flatMap(User.init), isDue(user, at: now) else { return nil }
        let end = BSONDatetime(milliseconds: now.milliseconds + minutes * 60_000)
        var (text, token) = PasswordToken.make(until: end)
        token.requested = now
        do {
            let isStored = try backend.changeUsers(call) { [token] transaction in
                guard
                    var user = try transaction.get(User.namespace, id: id).flatMap(User.init),
                    isDue(user, at: now)
                else { return false }
                user.passwordToken = token
                try transaction.put(User.namespace, user.stored)
                return true
            }
            guard isStored else { return nil }
        } catch {
            call.server.settings.log.write(
                .warning, "cannot store a token for a new password: \(error)")
            return nil
        }
        return PasswordMail.Message(
            user: name, database: call.database, token: text, expires: end)
    }

    /// Whether a user who asks receives a token.
    private static func isDue(_ user: User, at now: BSONDatetime) -> Bool {
        guard !user.isDisabled, !user.credentials.isEmpty else { return false }
        guard let requested = user.passwordToken?.requested else { return true }
        return requested.milliseconds + quietMinutes * 60_000 <= now.milliseconds
    }
}
