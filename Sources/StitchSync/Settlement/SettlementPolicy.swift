internal import BSONStore

/// What the app wants of what a look at the remote finds.
struct SettlementPolicy: Sendable {
    /// What becomes of changes that are refused.
    let terms: UploadPolicy
    /// The conflict handler's rule that adds up, where it has one.
    let counting: ThreeWayMerge?
}

/// What a look found, as it is decided about.
extension SyncTransaction {
    func facts(
        _ record: SyncRecord, local: BSONDocument?, remote: RemoteEdition,
        evidence: RemoteEventFacts.Evidence, mayClaim: Bool, isCertain: Bool
    ) -> RemoteEventFacts {
        let base = record.base.document(local: local)
        let isSame = contentEqual(local, remote.document)
        // A try that may still land is no second change.
        let countsTwice =
            isSame && isCertain && record.discarded.isEmpty
            && wishes?.counting?.countsTwice(from: base, to: local) ?? false
        let presence: RemoteEventFacts.Remote =
            switch (remote.document, remote.version) {
            case (nil, _): .absent
            case (_, .absent): .unversioned
            case (_, .version): .versioned
            case (_, .foreign): .foreign
            }
        return RemoteEventFacts(
            remote: presence, evidence: evidence,
            versionSame: record.version == remote.version,
            contentSame: contentEqual(base, remote.document),
            pending: PendingChange(base: base, local: local),
            outcomeSame: isSame && !countsTwice, mayClaim: mayClaim)
    }
}

extension FetchedDocument {
    /// Says that the version field is not one that we understand.
    func foreignVersion(in namespace: Namespace) -> SyncError {
        let field = remote?[DocumentVersion.fieldName] ?? .null
        return SyncError(
            .foreignVersion,
            "its version field is not one that we understand: \(DocumentVersion.misfit(field))",
            namespace: namespace, documentID: record.documentID)
    }
}
