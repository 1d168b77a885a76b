internal import BSONStore

/// The checks of passwords that a command carries.
enum PasswordCheck {
    /// The length of a password that a user chooses, in bytes.
    static let bytes = 8...1_024

    /// Checks that others on the network cannot read a command.
    ///
    /// - Throws: 13 (Unauthorized) without encryption over a network.
    static func requireEncryption(_ call: CommandCall) throws(CommandFailure) {
        guard call.connection.isSecure || call.connection.isLoopback else {
            throw CommandFailure(13, "\(call.name) needs an encrypted connection (TLS)")
        }
    }

    /// Returns the new password in the field `pwd`.
    ///
    /// - Throws: 2 (BadValue) for one that is too short or too long.
    static func newPassword(_ call: CommandCall) throws(CommandFailure) -> String {
        let password = call.string("pwd") ?? ""
        guard bytes.contains(password.utf8.count), !password.utf8.contains(0) else {
            throw CommandFailure(
                .badValue, "A password has 8 to 1024 bytes and no null character")
        }
        return password
    }

    /// Checks a user's present password; a wrong one counts as a failed sign-in.
    ///
    /// - Throws: `DelayedFailure` with 18 (AuthenticationFailed) for a wrong password; 20
    ///   (IllegalOperation) for a user without one.
    static func prove(_ password: String, of user: User, _ call: CommandCall) throws {
        guard let credential = user.credentials.last else { throw hasNone }
        let signIns = call.server.signIns
        let began = signIns.now
        let key = SignInDelay.key(
            user: user.name, database: user.database, peer: call.connection.peer)
        let stored = try credential.storedKey(user: user.name, password: password)
        do {
            try signIns.judge(key, began: began) {
                guard SHA256.areEqual(stored, credential.storedKey) else {
                    throw ScramConversation.failed
                }
            }
        } catch {
            call.server.settings.log.write(
                .warning,
                "\(call.name) was refused on connection \(call.connection.id) from "
                    + "\(call.connection.peer): wrong password")
            throw error
        }
    }

    /// The error for a user who signs in without a password.
    static let hasNone = CommandFailure(20, "the user has no password on this server")

    /// The error for an account that changed between its check and the write.
    static let changed = CommandFailure(112, "the account was changed meanwhile; try again")
}

extension CommandCall {
    /// Runs a part of a command on an account, and logs why it refuses the command, without a name.
    ///
    /// A wrong password is logged where it is checked.
    func loggingRefusal<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as DelayedFailure {
            throw error
        } catch {
            server.settings.log.write(
                .warning,
                "\(name) was refused on connection \(connection.id) from \(connection.peer): "
                    + CommandFailure(error).codeName)
            throw error
        }
    }
}

extension SignedInUser {
    /// The `_id` of the stored user.
    var storedID: String { User.id(name.text, database.text) }

    /// Whether the user signs in with a password of this server.
    var signsInWithPassword: Bool { !isAnonymous && !isOfToken }

    /// Returns the user who sent a command.
    ///
    /// - Throws: 13 (Unauthorized) without one, as on a server without sign-in.
    static func sender(of call: CommandCall) throws(CommandFailure) -> SignedInUser {
        guard let user = call.connection.state.withLock({ $0.user }) else {
            throw CommandFailure(13, "Command \(call.name) requires authentication")
        }
        return user
    }
}
