internal import BSONStore

/// The app's policies for the settlement of fetched documents.
struct SettlementPolicy: Sendable {
    /// The policy for refused changes.
    let terms: UploadPolicy
    /// The conflict handler's merge of counters, where it has one.
    let counting: ThreeWayMerge?
}

/// The facts about fetched documents.
extension SyncTransaction {
    func facts(
        _ record: SyncRecord, local: BSONDocument?, remote: RemoteEdition,
        evidence: RemoteEventFacts.Evidence, mayClaim: Bool, isCertain: Bool
    ) -> RemoteEventFacts {
        let base = record.base.document(local: local)
        let isSame = contentEqual(local, remote.document)
        // An attempt that may still be applied is not a second change.
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
    /// Returns the error of a foreign version field.
    func foreignVersion(in namespace: Namespace) -> SyncError {
        let field = remote?[DocumentVersion.fieldName] ?? .null
        return SyncError(
            .foreignVersion,
            "its version field is not one that we understand: \(DocumentVersion.misfit(field))",
            namespace: namespace, documentID: record.documentID)
    }
}
