internal import BSONStore

/// An unresolved attempt that the remote may still apply.
///
/// Its name in the remote document does not exclude other changes: a foreign client may have
/// changed the document before or after it without changing the version (rule R6).
struct UnresolvedAttempt: Hashable, Sendable {
    /// The attempt's name.
    let operation: OperationID
    /// The effect on the remote document.
    let meaning: Meaning

    /// The remote document after an attempt.
    enum Meaning: Hashable, Sendable {
        /// The document has this content.
        case content(BSONContentHash)
        /// These paths changed, and all others did not.
        case paths(UpdateDescription)
        /// The document is deleted.
        case nothing
    }

    /// The maximum number of bytes of a change; a longer one is stored as a hash of the whole
    /// content.
    private static let pathBytesMax = 1_024
}

extension UnresolvedAttempt {
    /// Keeps the parts of an attempt that identify it later.
    init(_ attempt: Attempt, base: BSONDocument?, local: BSONDocument?) {
        operation = attempt.operation
        guard let intended = attempt.intended.document(local: local) else {
            meaning = .nothing
            return
        }
        if let paths = UpdateDescription.synced(from: base, to: intended),
            paths.updatedFields.byteCount
                + paths.removedFields.reduce(0, { $0 + $1.utf8.count }) <= Self.pathBytesMax
        {
            meaning = .paths(paths)
        } else {
            meaning = .content(intended.contentHash())
        }
    }

    /// Returns whether a remote document with the attempt's name contains only the attempt's change
    /// of the base.
    func explains(_ remote: BSONDocument?, over base: BSONDocument?) -> Bool {
        switch meaning {
        case .nothing: return remote == nil
        case .content(let hash): return remote?.contentHash() == hash
        case .paths(let paths):
            guard let remote, let base else { return false }
            do throws(BSONError) {
                return try paths.apply(to: base).contentEquals(remote)
            } catch {
                // A path leads through a value that another client added to the base.
                return false
            }
        }
    }
}

// MARK: - As it is stored

extension UnresolvedAttempt {
    /// The stored form: a document with name and effect.
    private var value: BSONValue {
        switch meaning {
        case .nothing: ["op": operation.value, "is": .null]
        case .content(let hash):
            ["op": operation.value, "is": .binary(BSONBinary(hash.bytes))]
        case .paths(let paths):
            [
                "op": operation.value, "set": .document(paths.updatedFields),
                "unset": .array(BSONArray(paths.removedFields.map(BSONValue.string))),
            ]
        }
    }

    private init?(_ value: BSONValue) {
        guard let document = value.documentValue,
            let name = document["op"].flatMap(OperationID.init)
        else { return nil }
        if document["is"] == .null {
            self.init(operation: name, meaning: .nothing)
        } else if case .binary(let binary) = document["is"],
            let hash = BSONContentHash(bytes: binary.bytes)
        {
            self.init(operation: name, meaning: .content(hash))
        } else if let set = document["set"]?.documentValue,
            let unset = document["unset"]?.arrayValue?.values
        {
            let removed = unset.compactMap(\.stringValue)
            self.init(
                operation: name,
                meaning: .paths(UpdateDescription(updatedFields: set, removedFields: removed)))
        } else {
            return nil
        }
    }

    /// Returns the stored form of attempts; `nil` for an empty list.
    static func document(of attempts: [UnresolvedAttempt]) -> BSONDocument? {
        attempts.isEmpty ? nil : ["op": .array(BSONArray(attempts.map(\.value)))]
    }

    /// Reads attempts.
    static func attempts(in document: BSONDocument) -> [UnresolvedAttempt] {
        (document["op"]?.arrayValue?.values ?? []).compactMap(UnresolvedAttempt.init)
    }
}

extension UpdateDescription {
    /// Returns the paths that a change touches; `nil` where paths cannot describe it.
    static func synced(
        from base: BSONDocument?, to local: BSONDocument?
    ) -> UpdateDescription? {
        guard let base, let local,
            let paths = UpdateDescription.difference(
                from: base, to: local, excluding: DocumentVersion.fieldName)
        else { return nil }
        // Duplicate keys of a document have no path of their own.
        do throws(BSONError) {
            return try paths.apply(to: base).contentEquals(local) ? paths : nil
        } catch {
            return nil
        }
    }
}
