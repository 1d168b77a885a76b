package import BSONStore

/// The access to a collection that a user's role allows.
package final class RuleCollectionAccess: CollectionAccess {
    let access: RuleAccess
    /// The access's fingerprint, cached because every token contains it.
    let fingerprint: UInt64
    private let onDenial: @Sendable (RuleDenial) -> Void

    init(access: RuleAccess, _ onDenial: @escaping @Sendable (RuleDenial) -> Void) {
        self.access = access
        self.onDenial = onDenial
        fingerprint = access.fingerprint
    }

    package var filter: Filter? {
        switch access.visibility {
        case .never: nil
        case .always: .all
        case .filter(let filter): filter
        }
    }

    package var hidesFields: Bool { access.hidesFields }

    package func shown(_ document: BSONDocument) -> BSONDocument { access.shown(document) }

    package func hides(path: String) -> Bool { access.mask.hides(path: path) }

    package func judge(
        from before: BSONDocument?, toShown after: BSONDocument?
    ) throws(StoreError) -> BSONDocument? {
        do {
            return try access.judge(from: before, toShown: after)
        } catch {
            throw reported(error)
        }
    }

    package func reportedDenial(of document: BSONDocument) -> StoreError {
        reported(
            RuleDenial(
                cause: .notAllowed, role: access.role, namespace: access.namespace,
                documentID: document["_id"] ?? .null))
    }

    /// Reports a denial, and returns it as the error that clients receive.
    private func reported(_ denial: RuleDenial) -> StoreError {
        onDenial(denial)
        var error = StoreError(
            .unauthorized, denial.reason, namespace: denial.namespace,
            documentID: denial.documentID)
        error.errorInfo = denial.details
        return error
    }
}
