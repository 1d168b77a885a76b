internal import BSONStore

/// Turns the anonymous user who sends it into a registered one, who keeps the id in rules and so all
/// documents.
///
/// `{stitchsyncRegister: "ann", pwd: "…", $db: "shop"}`. From then on the anonymous secret does not sign
/// in: a document of the users says so.
enum StitchsyncRegisterCommand {
    static let definition = CommandDefinition(
        "stitchsyncRegister", aliases: [], [.takesWriteConcern, .outsideRules],
        fields: ["pwd": .string], required: ["pwd"],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .users(.callerAndNamed),
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let began = ContinuousClock.now
        let (user, former) = try call.loggingRefusal { try users(call) }
        let result = Result {
            try call.loggingRefusal {
                try backend.changeUsers(call) { transaction in
                    // A lock of one document for two registrations of the same anonymous user.
                    let ended = try transaction.get(User.namespace, id: .string(former.id))
                    if let ended {
                        let reason = AnonymousSignIn.ending(of: User(ended))
                        throw CommandFailure(
                            391, (reason ?? AnonymousSignIn.isRegistered).message)
                    }
                    guard try transaction.get(User.namespace, id: .string(user.id)) == nil else {
                        throw StitchsyncSignUpCommand.isTaken(user)
                    }
                    try transaction.put(User.namespace, former.stored)
                    try transaction.put(User.namespace, user.stored)
                }
            }
        }
        if result.value != nil {
            // At once: after a wait the sender, who is registered now, would have to sign in again.
            call.server.settings.log.write(
                .info, "the anonymous user of connection \(call.connection.id) registered")
            return .ok
        }
        return .waiting(
            CommandWait(until: began + StitchsyncSignUpCommand.replyDelay) {
                try result.get()
                return .ok
            })
    }

    /// Returns the user to create, and the anonymous user as it is stored from then on.
    private static func users(_ call: CommandCall) throws -> (user: User, former: User) {
        var user = try StitchsyncSignUpCommand.user(call)
        let sender = try SignedInUser.sender(of: call)
        guard sender.isAnonymous else {
            throw CommandFailure(20, "only an anonymous user can register")
        }
        try call.server.signUps.admit(peer: call.connection.peer)
        // Computed before the name is looked up, so that a taken one takes as long.
        try user.setPassword(call.string("pwd") ?? "", ScramMechanism.allCases)
        user.ruleID = sender.ruleID
        var former = User(name: sender.name.text, database: sender.database.text)
        former.registeredAs = user.accountText
        return (user, former)
    }
}
