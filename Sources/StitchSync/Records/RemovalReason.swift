/// Names the road by which the engine takes a document out of the store.
enum RemovalReason: Sendable, Hashable, CaseIterable {
    /// The app deleted the document.
    case byApp
    /// The answer to a conflict is that the document be deleted.
    case byAnswer
    /// The remote deleted it.
    case byRemote
    /// No subscription asks for it any more, or the user may not see it any more.
    case evicted
    /// The app ended its sync.
    case desynced
    /// A change was taken back, and the remote never held the document.
    case takenBack

    /// Whether the delete is one that the remote is to be told of, or was.
    var isSent: Bool {
        switch self {
        case .byApp, .byAnswer: true
        case .byRemote, .evicted, .desynced, .takenBack: false
        }
    }
}
