internal import BSONStore

/// Creates a user for a person who has no account, where the operator allows it.
///
/// `{stitchsyncSignUp: "ann", pwd: "…", $db: "shop"}`. The user has no roles; rules alone decide what
/// the user reads and writes.
enum StitchsyncSignUpCommand {
    static let definition = CommandDefinition(
        "stitchsyncSignUp", aliases: [], [.unauthenticated, .takesWriteConcern, .outsideRules],
        fields: ["pwd": .string], required: ["pwd"],
        privileges: .access(.read), underRules: .harmless, gateway: .users(.named),
        statements: nil, cursor: .none, .store(run))

    /// The length of a name, in bytes.
    static let nameBytes = 1...128
    /// The time from the request to the reply, whether the name is taken or not.
    ///
    /// It is longer than the work usually takes, which so remains hidden.
    static let replyDelay: Duration = .seconds(1)
    /// The databases whose users have plain ids in rules, and those of the server itself.
    ///
    /// A stranger who signs up there could have the id of a token's user.
    private static let closed: Set<Name> = ["admin", "$external", "config", "local"]

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let began = ContinuousClock.now
        let user = try call.loggingRefusal {
            var user = try Self.user(call)
            try call.server.signUps.admit(peer: call.connection.peer)
            // Computed before the name is looked up, so that a taken one takes as long.
            try user.setPassword(call.string("pwd") ?? "", ScramMechanism.allCases)
            return user
        }
        let result = Result {
            try call.loggingRefusal {
                try backend.changeUsers(call) { transaction in
                    var user = user
                    guard try transaction.get(User.namespace, id: .string(user.id)) == nil else {
                        throw StitchsyncSignUpCommand.isTaken(user)
                    }
                    try FormerName.distinguish(&user, in: transaction)
                    try transaction.put(User.namespace, user.stored)
                }
            }
        }
        if result.value != nil {
            call.server.settings.log.write(
                .info, "a user signed up on connection \(call.connection.id)")
        }
        return .waiting(
            CommandWait(until: began + replyDelay) {
                try result.get()
                return .ok
            })
    }

    /// Returns the user to create, without credentials.
    ///
    /// - Throws: 59 (CommandNotFound) on a server that does not allow it, 2 (BadValue), 13
    ///   (Unauthorized) without encryption over a network.
    static func user(_ call: CommandCall) throws(CommandFailure) -> User {
        guard call.server.settings.signUps != nil else {
            throw CommandFailure(
                59, "no such command: '\(call.name)' (the server runs without --sign-up)")
        }
        try PasswordCheck.requireEncryption(call)
        let name = call.target.stringValue ?? ""
        try check(name, on: call.database)
        _ = try PasswordCheck.newPassword(call)
        var user = User(name: name, database: call.database)
        user.isSelfMade = true
        return user
    }

    /// The error for a name that another user has.
    static func isTaken(_ user: User) -> CommandFailure {
        CommandFailure(
            51003,
            "the name \"\(user.name)\" is taken: another user of the database \"\(user.database)\" "
                + "has it; choose another name, or sign in as that user")
    }

    /// Checks the name and the database of a user who signs up, or who may have done so.
    ///
    /// - Throws: 2 (BadValue).
    static func check(_ name: String, on database: String) throws(CommandFailure) {
        guard !closed.contains(Name(database)) else {
            throw CommandFailure(
                .badValue,
                "users cannot sign up on the database \(database): use the database of the app")
        }
        guard nameBytes.contains(name.utf8.count), !User.isAmbiguous(name, database) else {
            throw CommandFailure(
                .badValue, "A name has 1 to 128 bytes and no null character")
        }
    }
}
