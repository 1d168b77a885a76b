internal import BSONStore

/// Ends all sign-ins of the user who sends it, that of the own connection included.
enum StitchsyncSignOutEverywhereCommand {
    static let definition = CommandDefinition(
        "stitchsyncSignOutEverywhere", aliases: [], [.takesWriteConcern, .outsideRules],
        fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .users(.caller),
        statements: nil, cursor: .none,
        .store { call, backend in
            try call.loggingRefusal {
                let sender = try SignedInUser.sender(of: call)
                guard sender.signsInWithPassword else { throw PasswordCheck.hasNone }
                try backend.changeUsers(call) { transaction in
                    let id = BSONValue.string(sender.storedID)
                    guard
                        var user = try transaction.get(User.namespace, id: id).flatMap(User.init)
                    else { throw PasswordCheck.changed }
                    user.endSignIns()
                    try transaction.put(User.namespace, user.stored)
                }
            }
            call.server.settings.log.write(
                .info, "the user of connection \(call.connection.id) ended all sign-ins")
            return .ok
        })
}
