internal import BSONStore
internal import StitchRules

/// The deletion of the account of the user who sent a command, step by step.
///
/// The user is removed after the documents, so that a server that is killed meanwhile leaves an
/// account that can be deleted again. The documents are handled a second time afterwards: a write of
/// the same user may have run at the same time.
struct AccountDeletion {
    /// The documents of a collection that belong to the user.
    struct Selection: Sendable {
        let namespace: Namespace
        let field: String
        /// Selects documents whose owner field is the user's id, and not an array that holds it.
        let filter: BSONDocument

        init(_ namespace: Namespace, _ field: String, of id: String) {
            self.namespace = namespace
            self.field = field
            filter = [
                field: ["$eq": .string(id)],
                "$expr": ["$eq": [.string("$" + field), ["$literal": .string(id)]]],
            ]
        }
    }

    /// A change of the database.
    enum Step: Sendable {
        case delete(Selection)
        case handOver(Selection, to: String)
        case removeUser(User)
        /// Stores that an anonymous user has ended; changes nothing if the user has done so before.
        case endGuest(User)
    }

    private let call: CommandCall
    private let user: SignedInUser
    private let stored: BSONDocument?

    /// - Parameter read: returns the stored user with an `_id`.
    /// - Throws: 13 (Unauthorized) without a signed-in user, and the errors of `read`.
    init(_ call: CommandCall, _ read: (String) throws -> BSONDocument?) throws {
        self.call = call
        user = try SignedInUser.sender(of: call)
        stored = try user.isAnonymous ? nil : read(user.storedID)
    }

    /// Deletes the account, and signs the connection out.
    ///
    /// - Parameter perform: performs a step, and returns how many documents it changed.
    /// - Throws: 18 (AuthenticationFailed) for a wrong password, 11 (UserNotFound) when another
    ///   command deleted the account, and the errors of `perform`.
    func run(_ perform: (Step) throws -> Int) throws -> CommandOutcome {
        do {
            try call.loggingRefusal { try prove() }
        } catch let error as DelayedFailure {
            return try error.outcome()
        }
        let (deleted, accountID) = (call.server.deletedAccounts, user.origin?.accountID)
        deleted.begin(accountID)
        do {
            // Each deletion stores something, and strangers can be any number of anonymous users.
            if user.isAnonymous { try call.server.signUps.admit(peer: call.connection.peer) }
            let steps = steps
            for step in steps { _ = try perform(step) }
            if let removal {
                guard try perform(removal) > 0 else { throw Self.isGone }
                call.server.operations.stop(ofUser: user, except: call.budget)
                for step in steps { _ = try perform(step) }
            }
        } catch {
            deleted.cancel(accountID)
            call.server.settings.log.write(
                .warning,
                "the account of connection \(call.connection.id) was not deleted: "
                    + CommandFailure(error).codeName)
            throw error
        }
        call.connection.become(nil)
        call.server.settings.log.write(
            .info, "the user of connection \(call.connection.id) deleted the account")
        return .ok
    }

    /// The step that removes the user; `nil` for a user of a token of whom nothing is stored.
    private var removal: Step? {
        guard user.isAnonymous else { return stored.flatMap(User.init).map(Step.removeUser) }
        var guest = User(name: user.name.text, database: user.database.text)
        guest.endAsDeleted()
        return .endGuest(guest)
    }

    private static let isGone = CommandFailure(11, "the account was deleted by another command")

    /// Checks the password of a user who has one.
    private func prove() throws {
        guard user.signsInWithPassword else { return }
        try PasswordCheck.requireEncryption(call)
        guard let stored, let known = User(stored) else { throw Self.isGone }
        guard let password = call.string("pwd") else {
            throw CommandFailure(
                40414, "BSON field '\(call.name).pwd' is missing but a required field")
        }
        try PasswordCheck.prove(password, of: known, call)
    }

    /// The steps for the user's documents.
    private var steps: [Step] {
        guard let rules = call.server.settings.rules?.edition.rules,
            let policy = rules.accountDeletion
        else { return [] }
        let id = user.ruleID
        var steps = policy.collections.compactMap { rule -> Step? in
            let selection = Selection(rule.namespace, rule.ownerField, of: id)
            switch rule.action {
            case .delete: return .delete(selection)
            case .keep: return nil
            case .handOver(let heir): return .handOver(selection, to: heir)
            }
        }
        if let own = rules.customData,
            !policy.collections.contains(where: { $0.namespace == own.namespace })
        {
            steps.append(.delete(Selection(own.namespace, own.userIDField, of: id)))
        }
        return steps
    }
}
