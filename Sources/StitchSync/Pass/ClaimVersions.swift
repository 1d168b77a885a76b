internal import BSONStore

/// The addition of a version to documents that have none (rule R6).
struct ClaimVersions {
    let context: PassContext

    /// Adds a version to documents that still have none (rule R6).
    func claim(_ records: [SyncRecord]) async throws {
        guard !records.isEmpty else { return }
        let operations = try await context.write { try $0.instance.nextOperations(records.count) }
        let writes = zip(records, operations).map { record, operation in
            let version = DocumentVersion.first(operation: operation)
            return RemoteWrite(
                documentID: record.documentID, operation: operation,
                action: .update(
                    set: [DocumentVersion.fieldName: .document(version.document)], unset: []),
                condition: RemoteWrite.Condition(version: .absent))
        }
        let outcomes = try await context.request { remote in try await remote.write(writes) }
        // Refused writes would be refused again, so they do not count as work for another pass.
        context.findings.count {
            $0.overtaken += outcomes.count { [.applied, .notMatched].contains($0) }
        }
    }
}
