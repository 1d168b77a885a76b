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

    /// The time within which a gateway stores the account after the mark, with repetitions and
    /// differences of clocks.
    private static let registrationSecondsMax = 120.0

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let began = ContinuousClock.now
        let (user, former) = try call.loggingRefusal { try users(call) }
        let result = Result {
            try call.loggingRefusal {
                try backend.changeUsers(call) { transaction in
                    // A lock of one document for two registrations of the same anonymous user.
                    let mark = try transaction.get(User.namespace, id: .string(former.id))
                    if let mark { try checkIsLeftover(mark, in: transaction) }
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

    /// Checks that what is stored of an anonymous user is the mark of a registration that failed at a
    /// gateway.
    ///
    /// - Throws: 391 if the user has registered or deleted the account, 112 (WriteConflict) for a mark
    ///   whose registration may still run at another gateway.
    private static func checkIsLeftover(
        _ mark: BSONDocument, in transaction: ReadTransaction
    ) throws {
        let mark = User(mark)
        let reason = try AnonymousSignIn.ending(of: mark) { account in
            let filter = try Filter(User.filter(ofAccount: account))
            let found = try transaction.find(
                User.namespace, filter: filter, options: FindOptions(limit: 1))
            return !found.isEmpty
        }
        guard reason == nil, let mark, mark.registeredAs != nil else {
            throw CommandFailure(391, (reason ?? AnonymousSignIn.isRegistered).message)
        }
        guard let time = mark.registeredAt else { return }
        // A time in the future is that of a gateway whose clock is wrong.
        let age = abs(BSONDatetime.now.seconds - time.seconds)
        guard age >= registrationSecondsMax else {
            throw CommandFailure(
                112,
                "another registration of this anonymous user may still be running; try again in "
                    + "\(Int(registrationSecondsMax - age) + 1) seconds")
        }
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
        former.registeredAt = .now
        return (user, former)
    }
}
