internal import BSONStore

/// The parts of the write that uploads a change.
enum UploadStatement {
    /// Returns the version that an attempt gives the document; `nil` for a delete.
    static func version(
        after base: VersionField, _ operation: OperationID, _ kind: AttemptBatch.Kind
    ) -> DocumentVersion? {
        switch (kind, base.version) {
        case (.delete, _): nil
        case (.insert, _), (.update, nil): DocumentVersion.first(operation: operation)
        case (.update, let base?): base.next(operation: operation)
        }
    }

    /// Returns the effect of a write.
    static func action(
        _ decision: UploadDecision, local: BSONDocument?, paths: UpdateDescription?,
        version: DocumentVersion?
    ) -> RemoteWrite.Action {
        guard var document = local, let version else { return .delete }
        let field = BSONValue.document(version.document)
        if decision == .update, let paths {
            var set = paths.updatedFields
            set.append(DocumentVersion.fieldName, field)
            return .update(set: set, unset: paths.removedFields)
        }
        document.append(DocumentVersion.fieldName, field)
        return decision == .insert ? .insert(document) : .replace(document)
    }

    /// Returns the condition of a write: the version and the old values of the touched paths, so
    /// that a foreign edit that kept the version is not overwritten unseen (rule R6).
    static func condition(
        _ decision: UploadDecision, _ version: VersionField, base: BSONDocument?,
        paths: UpdateDescription?
    ) -> RemoteWrite.Condition {
        guard decision == .update, let paths, let base else {
            return RemoteWrite.Condition(version: version, content: base)
        }
        var values = BSONDocument()
        var missing: [String] = []
        var reader = BSONPathReader(base)
        for path in paths.paths {
            if let value = reader.value(at: path) {
                values.append(path, value)
            } else {
                missing.append(path)
            }
        }
        return RemoteWrite.Condition(version: version, values: values, missing: missing)
    }
}
