internal import BSONStore

/// Changes the password of the user who sends it.
///
/// `{stitchsyncChangePassword: 1, old: "…", pwd: "…", signOutOthers: true}`.
enum StitchsyncChangePasswordCommand {
    static let definition = CommandDefinition(
        "stitchsyncChangePassword", aliases: [], [.takesWriteConcern, .outsideRules],
        fields: ["old": .string, "pwd": .string, "signOutOthers": .flag],
        required: ["old", "pwd"],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .users(.caller),
        statements: nil, cursor: .none,
        .store { call, backend in
            do {
                try call.loggingRefusal { try change(call, backend) }
                return .ok
            } catch let error as DelayedFailure {
                return try error.outcome()
            }
        })

    private static func change(_ call: CommandCall, _ backend: StoreBackend) throws {
        try PasswordCheck.requireEncryption(call)
        let sender = try SignedInUser.sender(of: call)
        guard sender.signsInWithPassword else { throw PasswordCheck.hasNone }
        let password = try PasswordCheck.newPassword(call)
        let id = BSONValue.string(sender.storedID)
        let stored = try backend.read(call) { try $0.get(User.namespace, id: id) }
        guard let stored, let known = User(stored) else { throw PasswordCheck.changed }
        try PasswordCheck.prove(call.string("old") ?? "", of: known, call)
        var user = known
        try user.setPassword(password, ScramMechanism.allCases)
        if call.flag("signOutOthers") {
            let mark = user.endSignIns()
            // Before the write, since the next command may arrive right after it.
            call.connection.state.withLock { $0.user?.origin?.add(mark) }
        }
        let changed = user.stored
        try backend.changeUsers(call) { transaction in
            // Keys take long to derive, so they are derived outside of the transaction.
            guard try transaction.get(User.namespace, id: id) == stored else {
                throw PasswordCheck.changed
            }
            try transaction.put(User.namespace, changed)
        }
        call.server.settings.log.write(
            .info, "the user of connection \(call.connection.id) changed the password")
    }
}
