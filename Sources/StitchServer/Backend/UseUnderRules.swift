internal import BSONStore

/// The use of a command by a user under access rules.
enum UseUnderRules: Sendable, Hashable {
    /// Nothing: it is refused (13, Unauthorized).
    case refused
    /// Everything: it reaches none of the documents that rules are for.
    case harmless
    /// Read: the user gets what the rules show of it.
    case reads(ReadSubject)
    /// Write: the rules judge each change.
    case writes
    /// Files beside documents: the rules of the document decide that refers to a file.
    case attachments
}

/// The subject of a command that reads.
enum ReadSubject: Sendable, Hashable {
    /// Documents of the collections that it names.
    case documents
    /// The collections of a database.
    case collections
    /// The databases.
    case databases
    /// The record of deletions.
    case tombstones
}
