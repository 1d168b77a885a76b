internal import BSONStore

/// An access that a command needs, and the database on which it needs it.
struct AccessNeed: Sendable {
    let access: Role.Access
    /// The database; the empty name stands for all databases.
    let database: String

    init(_ access: Role.Access, on database: String) {
        self.access = access
        self.database = database
    }

    /// Creates the need of an access to a collection, stricter for that of the users.
    init(_ access: Role.Access, to name: Namespace) {
        let isOfUsers = name.database == "admin" && name.collection.hasBytePrefix("system.")
        self.access = isOfUsers ? .userAdministration : access
        database = isOfUsers ? "admin" : name.database
    }
}
