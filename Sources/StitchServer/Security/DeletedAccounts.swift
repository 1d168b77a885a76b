internal import BSONStore

/// The accounts that are being deleted, and the last ones that were.
///
/// What a query finds changed then is no change of rules: its user has to sign in again.
final class DeletedAccounts: Sendable {
    /// The maximum number; a further one removes the oldest.
    static let countMax = 1_000

    private let ids = Locked<[Name]>([])

    /// Notes that the deletion of an account begins.
    func begin(_ id: String) {
        ids.withLock { ids in
            if ids.count >= Self.countMax { ids.removeFirst() }
            ids.append(Name(id))
        }
    }

    /// Notes that the deletion of an account failed.
    func cancel(_ id: String) {
        ids.withLock { ids in
            if let place = ids.lastIndex(of: Name(id)) { ids.remove(at: place) }
        }
    }

    func contains(_ id: String) -> Bool { ids.withLock { $0.contains(Name(id)) } }
}
