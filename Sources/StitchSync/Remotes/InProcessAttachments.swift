package import BSONStore
internal import StitchRules

/// The files beside the documents of an in-process remote.
struct InProcessAttachments: RemoteAttachments {
    let store: DocumentStore
    let rules: RemoteRules

    func state(
        of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        try mapping {
            try store.read { transaction in
                try refers(place, in: transaction) { $0.shows(place.attachment, in: $1) }
                    ? RemoteAttachmentState(bucket(place).state(of: place, in: transaction))
                    : .unknown
            }
        }
    }

    func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        do {
            // Before the write, for which other writers would have to wait.
            let proof = try store.read { transaction in
                try refers(place, in: transaction) { $0.takes(place.attachment, in: $1) }
                    ? bucket(place).proof(
                        completing: bytes, at: offset, of: place, in: transaction) : nil
            }
            return try await store.write { transaction in
                try refers(place, in: transaction) { $0.takes(place.attachment, in: $1) }
                    ? RemoteAttachmentState(
                        bucket(place).put(
                            bytes, at: offset, of: place, proof: proof, in: transaction))
                    : .unknown
            }
        } catch {
            throw Self.remoteError(error)
        }
    }

    func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int
    ) async throws(RemoteError) -> [UInt8]? {
        try mapping {
            try store.read { transaction in
                try refers(place, in: transaction) { $0.shows(place.attachment, in: $1) }
                    ? bucket(place).read(place, from: offset, count: count, in: transaction) : nil
            }
        }
    }

    private func bucket(_ place: AttachmentPlace) -> AttachmentBucket {
        AttachmentBucket(database: place.namespace.database)
    }

    /// Whether the document refers to the file, as far as the user's rules allow.
    private func refers(
        _ place: AttachmentPlace, in transaction: ReadTransaction,
        _ allows: (RuleAccess, BSONDocument) -> Bool
    ) throws -> Bool {
        guard let document = try transaction.get(place.namespace, id: place.documentID) else {
            return false
        }
        guard let ruleGuard = rules.ruleGuard else {
            return place.attachment.reference(in: document) != nil
        }
        return allows(ruleGuard.access(place.namespace), document)
    }

    private func mapping<R>(_ body: () throws -> R) throws(RemoteError) -> R {
        do { return try body() } catch { throw Self.remoteError(error) }
    }

    /// Returns the error for a device; a damaged file does not concern others.
    private static func remoteError(_ error: any Error) -> RemoteError {
        guard let error = error as? StoreError, error.code == .corrupt, error.sqliteCode == nil
        else { return InProcessCollection.remoteError(error) }
        return RemoteError(.unknown, code: Int(error.code.rawValue), error.message)
    }
}

extension RemoteAttachmentState {
    /// Creates the state of a file that belongs to its document, or to none that the user knows of.
    package init(_ state: AttachmentBucket.State) {
        self =
            switch state {
            case .partial(let count): .partial(count)
            case .complete: .complete
            case .foreign: .unknown
            }
    }
}
