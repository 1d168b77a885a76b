internal import BSONStore
internal import StitchRules

/// The place where the users are stored, and what rules read about them.
protocol UserRecords: Sendable {
    /// Returns the stored document of a user; `nil` when no user has the id.
    func user(_ id: String) throws -> BSONDocument?

    /// Returns the stored documents of all users.
    func all() throws -> [BSONDocument]

    /// Whether a user has the id of an account, by which anonymous users refer to those as whom they
    /// registered.
    func hasAccount(_ id: BSONValue) throws -> Bool

    /// Whether there are no users yet.
    func isEmpty() throws -> Bool

    /// Returns the document with a user's custom data; `nil` without one.
    ///
    /// - Parameter id: the user's id in rules.
    func customData(_ source: RuleSet.CustomData, of id: String) throws -> BSONDocument?

    /// A number that grows with every change of the documents; `nil` when they must be read again
    /// each time.
    var newestChange: Int64? { get throws }
}

/// The users in a store.
struct StoredUserRecords: UserRecords {
    let store: DocumentStore
    /// The commits of the store.
    let commits: CommitNotifier

    func user(_ id: String) throws -> BSONDocument? {
        try store.read { try $0.get(User.namespace, id: .string(id)) }
    }

    func all() throws -> [BSONDocument] {
        try store.read { try $0.find(User.namespace, filter: .all) }
    }

    /// A store writes both in one transaction, so no reference is without its user.
    func hasAccount(_ id: BSONValue) throws -> Bool { true }

    func isEmpty() throws -> Bool {
        let filter = try Filter(User.exists)
        return try store.read { transaction in
            try transaction.find(User.namespace, filter: filter, options: FindOptions(limit: 1))
                .isEmpty
        }
    }

    func customData(_ source: RuleSet.CustomData, of id: String) throws -> BSONDocument? {
        let filter = try Filter([source.userIDField: ["$eq": .string(id)]])
        return try store.read { transaction in
            try transaction.find(source.namespace, filter: filter, options: FindOptions(limit: 1))
                .first
        }
    }

    var newestChange: Int64? {
        get throws {
            // An in-memory store has no other process, and a transaction may hold its one
            // connection.
            guard store.location != .inMemory else { return Int64(commits.generation) }
            return try store.changePosition
        }
    }
}
