public import BSONStore

/// One conditional write of a batch.
public struct RemoteWrite: Sendable, Hashable {
    /// What to do with the document.
    public enum Action: Sendable, Hashable {
        /// Insert a document that carries its version; fails where the `_id` is taken.
        case insert(BSONDocument)
        /// Set dotted paths, the version field among them, and unset others.
        case update(set: BSONDocument, unset: [String])
        /// Replace the document by one that carries its version.
        case replace(BSONDocument)
        /// Delete the document.
        case delete
    }

    /// What must hold for a write on an existing document to be carried out.
    public struct Condition: Sendable, Hashable {
        /// The version field must be this; `id`, `v` and `op` count, nothing else in it.
        public let version: VersionField
        /// Values by dotted path that must be there, equal in content.
        public let values: BSONDocument
        /// Dotted paths that must be missing.
        public let missing: [String]
        /// The content that the whole document must have apart from its version, where told.
        public let content: BSONDocument?

        /// Makes a condition of its parts.
        public init(
            version: VersionField, values: BSONDocument = [:], missing: [String] = [],
            content: BSONDocument? = nil
        ) {
            self.version = version
            self.values = values
            self.missing = missing
            self.content = content
        }

        /// Rules R1 and R6: `id`, `v` and `op` of the version, and the old values.
        package func holds(for document: BSONDocument) -> Bool {
            guard VersionField(of: document) == version else { return false }
            for (path, value) in values {
                guard let found = document[path: path], found.contentEquals(value) else {
                    return false
                }
            }
            guard missing.allSatisfy({ document[path: $0] == nil }) else { return false }
            guard let content else { return true }
            return content.contentEquals(document.withoutVersion)
        }
    }

    /// The document's `_id`.
    public let documentID: BSONValue
    /// The name of the attempt.
    public let operation: OperationID
    /// What to do.
    public let action: Action
    /// What must hold; not looked at for an insert.
    public let condition: Condition

    /// Makes a write of its parts.
    public init(
        documentID: BSONValue, operation: OperationID, action: Action, condition: Condition
    ) {
        self.documentID = documentID
        self.operation = operation
        self.action = action
        self.condition = condition
    }
}

/// What became of one write.
public enum RemoteWriteOutcome: Sendable, Hashable {
    /// It is in, durably.
    case applied
    /// Its condition did not hold, or the document is gone.
    case notMatched
    /// Its `_id` is taken.
    case duplicateKey
    /// It failed: for good, or in a way that may pass, as the error's class says.
    case failed(RemoteError)
}
