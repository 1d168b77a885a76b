internal import BSONStore

/// Carries one conditional write out in a transaction of the remote's store.
struct ConditionalWrite {
    let write: RemoteWrite
    /// The document, or that there is none, where the transaction has looked already.
    let known: StoredDocument??

    /// Says that a write has to be carried out in a savepoint of its own.
    struct NeedsSavepoint: Error {}

    /// Checks the condition and writes; what the store refuses for good is an outcome.
    ///
    /// - Parameter isAlone: uses a savepoint, which costs a copy of every page that is written.
    /// - Throws: ``NeedsSavepoint`` when something went wrong without one: the transaction is to be
    ///   undone.
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
            // A path leads through a value that somebody else put there: not what we knew.
            return .notMatched
        } catch let error as StoreError {
            return try Self.outcome(of: error)
        }
    }

    private func carryOut(
        _ transaction: WriteTransaction, _ namespace: Namespace
    ) throws -> RemoteWriteOutcome {
        let found = try known ?? transaction.found(namespace, id: write.documentID)
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

    /// What is about the document is an outcome; what is about the file ends the request.
    private static func outcome(of error: StoreError) throws -> RemoteWriteOutcome {
        if error.concernsFile { throw error }
        if error.code == .unauthorized,
            let write = CompensatingWrite(reason: error.message, details: error.errorInfo)
        {
            return .failed(RemoteError(write))
        }
        return .failed(RemoteError(.rejected, code: Int(error.code.rawValue), error.message))
    }
}
