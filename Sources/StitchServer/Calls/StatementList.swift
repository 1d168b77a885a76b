internal import BSONStore

/// The kind of the statements in a command that writes documents.
enum StatementList: Sendable, Hashable {
    /// Documents to insert.
    case inserts
    case updates
    case deletes
    /// Inserts, updates and deletes, each of which names its collection in `nsInfo`.
    case mixed

    /// The argument that holds the statements.
    var field: String {
        switch self {
        case .inserts: "documents"
        case .updates: "updates"
        case .deletes: "deletes"
        case .mixed: "ops"
        }
    }
}
