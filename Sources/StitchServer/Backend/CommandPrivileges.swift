internal import BSONStore

/// The rights that a user's roles must grant for a command.
enum CommandPrivileges: Sendable, Hashable {
    /// An access to the command's database.
    ///
    /// On the collections of users it is the right to administrate users.
    case access(Role.Access)
    /// An access to the command's database, and the right to administrate users if any part of the
    /// command names their credentials, which a view would show.
    case definition(Role.Access)
    /// Reading the database; the cursor table checks whose cursor it is.
    case cursor
    /// No right for sessions of the user's own, the administration of the cluster for others.
    case sessions
    /// The rights that the parsed arguments ask for, or an access to the command's database if the
    /// arguments name none.
    case arguments(orElse: Role.Access)
}
