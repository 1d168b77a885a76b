public import BSONStore

/// A conditional write of one document.
///
/// ```swift
/// let write = RemoteWrite(
///     documentID: 1, operation: OperationID(instance: 7, sequence: 1), action: .delete,
///     condition: RemoteWrite.Condition(version: .absent))
/// let outcomes = try await collection.write([write])
/// ```
public struct RemoteWrite: Sendable, Hashable {
    /// The change of the document.
    public enum Action: Sendable, Hashable {
        /// Insert a document with its version field; fails where the `_id` exists.
        case insert(BSONDocument)
        /// Set dotted paths, including the version field, and unset others.
        case update(set: BSONDocument, unset: [String])
        /// Replace the document by one with its version field.
        case replace(BSONDocument)
        /// Delete the document.
        case delete
    }

    /// The condition under which the remote writes an existing document.
    public struct Condition: Sendable, Hashable {
        /// The required version field; only `id`, `v` and `op` are compared.
        public let version: VersionField
        /// The required values by dotted path, compared by content.
        public let values: BSONDocument
        /// The dotted paths that must be missing.
        public let missing: [String]
        /// The required content without the version field; `nil` requires none.
        public let content: BSONDocument?

        /// Makes a condition from its parts.
        public init(
            version: VersionField, values: BSONDocument = [:], missing: [String] = [],
            content: BSONDocument? = nil
        ) {
            self.version = version
            self.values = values
            self.missing = missing
            self.content = content
        }

        /// Whether a document meets the condition (rules R1 and R6).
        package func holds(for document: BSONDocument) -> Bool {
            guard VersionField(of: document) == version else { return false }
            var reader = BSONPathReader(document)
            for (path, value) in values {
                guard let found = reader.value(at: path), found.contentEquals(value) else {
                    return false
                }
            }
            for path in missing where reader.value(at: path) != nil { return false }
            guard let content else { return true }
            return content.contentEquals(document.withoutVersion)
        }
    }

    /// The document's `_id`.
    public let documentID: BSONValue
    /// The name of the upload attempt.
    public let operation: OperationID
    /// The change to apply.
    public let action: Action
    /// The condition of the write; ignored for an insert.
    public let condition: Condition

    /// Makes a write from its parts.
    public init(
        documentID: BSONValue, operation: OperationID, action: Action, condition: Condition
    ) {
        self.documentID = documentID
        self.operation = operation
        self.action = action
        self.condition = condition
    }
}

/// The outcome of one write.
///
/// ```swift
/// for case .failed(let error) in try await collection.write(writes) {
///     print(error)
/// }
/// ```
public enum RemoteWriteOutcome: Sendable, Hashable {
    /// The write is applied and durable.
    case applied
    /// The condition did not hold, or the document does not exist.
    case notMatched
    /// The `_id` of the insert exists already.
    case duplicateKey
    /// The write failed, temporarily or permanently by the error's class.
    case failed(RemoteError)
}

extension RemoteWriteOutcome {
    /// Whether rules or subscriptions refused the write, not its content.
    var isDenied: Bool {
        if case .failed(let error) = self { error.compensatingWrite != nil } else { false }
    }
}
