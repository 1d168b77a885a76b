internal import BSONStore

/// A virtual collection that the server fills, and that administrators read.
enum ServerCollection: Sendable, Hashable, CaseIterable {
    /// The writes that rules denied.
    case denied
    /// The conflicts that devices share.
    case conflicts

    /// The name by which clients read it.
    var namespace: Namespace {
        switch self {
        case .denied: DeniedWrites.namespace
        case .conflicts: StoredConflicts.namespace
        }
    }

    private var content: String {
        switch self {
        case .denied: "the writes that rules denied"
        case .conflicts: "the conflicts that devices share"
        }
    }

    /// The error for a command other than a read.
    var isReadOnly: CommandFailure {
        CommandFailure(
            166,
            "\(namespace) is made up by the server of \(content); it "
                + "can be read by find, count and aggregate only")
    }
}
