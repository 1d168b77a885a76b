internal import BSONStore

/// What a user under access rules may do with a command.
enum UseUnderRules: Sendable, Hashable {
    /// Nothing: it is refused (13, Unauthorized).
    case refused
    /// Everything: it reaches none of the documents that rules are for.
    case harmless
    /// Read: the user gets what the rules show of it.
    case reads(ReadSubject)
    /// Write: the rules judge each change.
    case writes(ReadSubject)
}

/// What a command reads, as its arguments select it.
enum ReadSubject: Sendable, Hashable {
    /// The documents that `filter` matches, in the order of `sort`, from `skip` up to `limit`.
    case filter
    /// All documents that `query` matches.
    case query
    /// The number of documents that `query` matches.
    case count
    /// The first document that `query` matches, in the order of `sort`.
    case firstOfQuery
    /// The documents that the stages of `pipeline` read, also in other collections.
    case pipeline
    /// What the explained command reads.
    case explained
    /// The documents that the command's statements select.
    case statements
    /// The collections of a database.
    case collections
    /// The databases.
    case databases
    /// The record of deletions.
    case tombstones
}
