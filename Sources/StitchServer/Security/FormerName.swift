internal import BSONStore

/// The record that a user had a name, so that the next user of the name gets another id in rules.
///
/// Documents that the former user left stay out of the next user's reach. The record holds a hash of
/// the name, not the name, and is stored with the users.
enum FormerName {
    /// The field with the database of the former user.
    static let databaseField = "formerOf"

    /// Returns the `_id` of the record of a name.
    ///
    /// It is binary, so it sorts after those of users: a gateway's query that reads both, sorted by
    /// `_id`, finds the record of every user whom it finds gone.
    static func id(_ name: String, _ database: String) -> BSONValue {
        let text = "stitchsync former user\0" + User.id(name, database)
        return .binary(BSONBinary(SHA256.hash(Array(text.utf8))))
    }

    /// Returns the record for a user; `nil` for one whom an identity provider vouches for, who is the
    /// same user also without roles of this server.
    static func record(of user: User) -> BSONDocument? {
        guard user.database != SignedInUser.externalDatabase else { return nil }
        return ["_id": id(user.name, user.database), databaseField: .string(user.database)]
    }

    /// Removes users after it has recorded their names.
    ///
    /// - Returns: the number of users who were there.
    static func removeUsers(
        _ users: [User], in transaction: WriteTransaction
    ) throws -> Int {
        // All records first: what follows them may not arrive at a gateway's upstream.
        for user in users {
            if let record = Self.record(of: user),
                try transaction.get(User.namespace, id: record["_id"] ?? .null) == nil
            {
                try transaction.put(User.namespace, record)
            }
            if let id = user.guestID,
                var guest = try transaction.get(User.namespace, id: .string(id))
                    .flatMap(User.init)
            {
                guest.endAsDeleted()
                try transaction.put(User.namespace, guest.stored)
            }
        }
        var count = 0
        for user in users where try transaction.remove(User.namespace, id: .string(user.id)) {
            count += 1
        }
        return count
    }

    /// Assigns another id in rules to a new user whose name a former user had.
    static func distinguish(_ user: inout User, in transaction: ReadTransaction) throws {
        guard let record = Self.record(of: user), user.ruleID == nil,
            try transaction.get(User.namespace, id: record["_id"] ?? .null) != nil
        else { return }
        user.ruleID = user.accountRuleID
    }
}
