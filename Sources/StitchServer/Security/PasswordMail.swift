package import BSONStore

/// The way in which users receive tokens for a forgotten password, and how many may ask.
package struct PasswordMail: Sendable {
    /// A token to send to its user.
    package struct Message: Sendable, Hashable {
        /// The user's name.
        package let user: String
        /// The database that holds the user.
        package let database: String
        /// The token, which only the user may see.
        package let token: String
        /// The end of the token.
        package let expires: BSONDatetime

        /// Creates a message.
        package init(user: String, database: String, token: String, expires: BSONDatetime) {
            self.user = user
            self.database = database
            self.token = token
            self.expires = expires
        }
    }

    /// The limits on requests, counted apart from sign-ups.
    package let limits: SignUpLimits
    /// Sends a message, and returns what the log should say about it; it may block.
    package let send: @Sendable (Message) throws -> String

    /// Creates the way.
    ///
    /// - Parameter send: called on a thread of its own, for one message at a time.
    package init(
        limits: SignUpLimits = SignUpLimits(),
        send: @escaping @Sendable (Message) throws -> String
    ) {
        self.limits = limits
        self.send = send
    }
}

/// The sender of tokens, on a thread of its own, since a mail server may be slow.
final class PasswordMailer: Sendable {
    /// The requests of the last hour.
    let requests: SignUpRecord
    private let worker: CountedWorker<PasswordMail.Message>

    init(_ mail: PasswordMail, _ log: ServerLog) {
        requests = SignUpRecord(mail.limits, of: "requests for a new password")
        worker = CountedWorker { message, _ in
            Self.send(message, mail, log)
            return 1
        }
    }

    /// Sends a message soon; does not wait.
    ///
    /// The limits on requests also limit the messages that wait.
    func send(_ message: PasswordMail.Message) { worker.add(message) }

    /// Accepts no more messages, and waits until those that wait are sent, or the time is over.
    func finish(within limit: Duration) { worker.finish(within: limit) }

    private static func send(
        _ message: PasswordMail.Message, _ mail: PasswordMail, _ log: ServerLog
    ) {
        do {
            let output = try mail.send(message)
            log.write(.info, "sent a token for a new password" + shown(output, message))
        } catch {
            log.write(
                .warning, "cannot send a token for a new password" + shown("\(error)", message))
        }
    }

    /// Returns a text to add to a line of the log, without the token.
    private static func shown(_ text: String, _ message: PasswordMail.Message) -> String {
        let lines = text.split(whereSeparator: \.isNewline).joined(separator: "; ")
        return lines.isEmpty ? "" : ": " + lines.replacing(message.token, with: "(hidden)")
    }
}
