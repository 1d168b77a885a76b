internal import BSONStore

/// The accounts that are being deleted, and the last ones that were.
///
/// What a query finds changed then is no change of rules: its user has to sign in again. Accounts are
/// known by their random ids, so that a later account of the same name is another one.
final class DeletedAccounts: Sendable {
    /// The maximum number; a further one removes the oldest.
    static let countMax = 1_000

    private let ids = Locked<[BSONValue]>([])

    /// Notes that the deletion of an account begins; `nil`, of a user who is not stored, is not noted.
    func begin(_ id: BSONValue?) {
        guard let id else { return }
        ids.withLock { ids in
            if ids.count >= Self.countMax { ids.removeFirst() }
            ids.append(id)
        }
    }

    /// Notes that the deletion of an account failed.
    func cancel(_ id: BSONValue?) {
        ids.withLock { ids in
            if let place = ids.lastIndex(where: { $0 == id }) { ids.remove(at: place) }
        }
    }

    /// Whether the deletion of an account began, and did not fail.
    func contains(_ id: BSONValue) -> Bool { ids.withLock { $0.contains(id) } }
}
