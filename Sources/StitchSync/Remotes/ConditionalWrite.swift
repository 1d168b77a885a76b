internal import BSONStore

/// The application of one conditional write in a transaction of the remote's store.
struct ConditionalWrite {
    let write: RemoteWrite
    /// The document before the write.
    let known: KnownDocument

    /// The error of a write that needs a savepoint of its own.
    struct NeedsSavepoint: Error {}

    /// Checks the condition and writes; a permanent refusal of the store is an outcome.
    ///
    /// - Parameter isAlone: whether to use a savepoint, which copies every written page.
    /// - Throws: ``NeedsSavepoint`` after an error without a savepoint; the caller must roll back.
    func apply(
        _ transaction: WriteTransaction, _ namespace: Namespace, isAlone: Bool
    ) throws -> RemoteWriteOutcome {
        transaction.comment = write.operation.value
        defer { transaction.comment = nil }
        do {
            guard isAlone else { return try carryOut(transaction, namespace) }
            return try transaction.savepoint { try carryOut(transaction, namespace) }
        } catch  where !isAlone {
            throw NeedsSavepoint()
        } catch is BSONError {
            // A path leads through a value of another client, so that the document is not the known
            // one.
            return .notMatched
        } catch let error as StoreError {
            return try Self.outcome(of: error)
        }
    }

    private func carryOut(
        _ transaction: WriteTransaction, _ namespace: Namespace
    ) throws -> RemoteWriteOutcome {
        let found = try known.document {
            try transaction.found(namespace, id: write.documentID)
        }
        if case .insert(let document) = write.action {
            guard found == nil else { return .duplicateKey }
            try transaction.insert(namespace, document)
            return .applied
        }
        guard let found, write.condition.holds(for: found.document) else { return .notMatched }
        switch write.action {
        case .insert: return .duplicateKey
        case .update(let set, let unset):
            let update = UpdateDescription(updatedFields: set, removedFields: unset)
            try transaction.replace(namespace, found, by: try update.apply(to: found.document))
        case .replace(let document):
            try transaction.replace(namespace, found, by: document)
        case .delete:
            try transaction.remove(namespace, id: write.documentID)
        }
        return .applied
    }

    /// Returns the outcome of an error about the document; throws an error about the file.
    private static func outcome(of error: StoreError) throws -> RemoteWriteOutcome {
        if error.concernsFile { throw error }
        if error.code == .unauthorized,
            let write = CompensatingWrite(reason: error.message, details: error.errorInfo)
        {
            return .failed(RemoteError(write))
        }
        if error.code == .duplicateKey {
            return .failed(
                RemoteError(
                    uniquePaths: error.keyPattern.map { Array($0.keys) } ?? [],
                    code: Int(error.code.rawValue), error.message))
        }
        return .failed(RemoteError(.rejected, code: Int(error.code.rawValue), error.message))
    }
}
