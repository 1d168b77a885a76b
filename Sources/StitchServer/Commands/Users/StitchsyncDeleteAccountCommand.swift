internal import BSONStore

/// Deletes the account of the user who sends it, and handles the user's documents as the rules'
/// `auth/account_deletion.json` says.
///
/// `{stitchsyncDeleteAccount: 1, pwd: "…"}`; users without a password of this server send no `pwd`.
enum StitchsyncDeleteAccountCommand {
    static let definition = CommandDefinition(
        "stitchsyncDeleteAccount", aliases: [], [.takesWriteConcern, .outsideRules],
        fields: ["pwd": .string], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .deletesAccount,
        statements: nil, cursor: .none,
        .store { call, backend in
            try AccountDeletion(call) { id in
                try backend.read(call) { try $0.get(User.namespace, id: .string(id)) }
            }.run { step in
                try perform(step, call, backend)
            }
        })

    private static func perform(
        _ step: AccountDeletion.Step, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> Int {
        switch step {
        case .delete(let selection):
            let filter = try Filter(comparingBytes: selection.filter)
            return try backend.write(call) {
                try $0.deleteMany(selection.namespace, filter: filter)
            }
        case .handOver(let selection, let heir):
            let filter = try Filter(comparingBytes: selection.filter)
            let update = try Update(["$set": [selection.field: .string(heir)]])
            return try backend.write(call) { transaction in
                transaction.bypassesValidation = true
                return try transaction.updateMany(
                    selection.namespace, filter: filter, update: update, keepImages: false
                ).modifiedCount
            }
        case .removeUser(let user):
            return try backend.changeUsers(call) { transaction in
                let current = try transaction.get(User.namespace, id: .string(user.id))
                    .flatMap(User.init)
                guard let current, current.accountID == user.accountID else { return 0 }
                return try FormerName.removeUsers([current], in: transaction)
            }
        case .endGuest(let guest):
            return try backend.changeUsers(call) { transaction in
                let id = BSONValue.string(guest.id)
                guard try transaction.get(User.namespace, id: id) == nil else { return 0 }
                try transaction.put(User.namespace, guest.stored)
                return 1
            }
        }
    }
}
