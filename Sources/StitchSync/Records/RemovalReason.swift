internal import BSONStore

/// The reason why the engine removes a local document.
enum RemovalReason: Sendable, Hashable, CaseIterable {
    /// The app deleted the document.
    case byApp
    /// A conflict was resolved by a delete.
    case byAnswer
    /// The remote deleted the document.
    case byRemote
    /// No subscription matches the document any more, or the user may no longer read it.
    case evicted
    /// The app ended the document's sync.
    case syncEnded
    /// An insert was reverted.
    case takenBack

    /// Whether the delete is uploaded, or already was.
    var isSent: Bool {
        switch self {
        case .byApp, .byAnswer: true
        case .byRemote, .evicted, .syncEnded, .takenBack: false
        }
    }
}
