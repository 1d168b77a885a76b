/// The reason why the store, a query or an update failed, with MongoDB's error number.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// MongoDB's number of the error.
    public var code: Code
    /// A human-readable description; MongoDB's text where MongoDB has one.
    public var message: String
    /// The collection concerned, if there is one.
    public var namespace: Namespace?
    /// The document concerned, if there is one.
    public var documentID: BSONValue?
    /// For a duplicate key, the key pattern of the violated index.
    public var keyPattern: BSONDocument?
    /// For a duplicate key, the values that already exist.
    public var keyValue: BSONDocument?
    /// For a document that failed validation, its id and the rules that it violates.
    public var errorInfo: BSONDocument?
    /// For a batch of writes, the result of the applied and the refused ones.
    public var writes: BulkWriteResult?
    /// The phase in which a successfully parsed command failed.
    package var phase: Phase?
    /// SQLite's extended result code, if SQLite failed.
    public var sqliteCode: Int32?
    /// The underlying error, if there is one.
    public var underlying: (any Error)?

    /// Creates an error; the details are optional.
    public init(
        _ code: Code, _ message: String, namespace: Namespace? = nil,
        documentID: BSONValue? = nil, sqliteCode: Int32? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.namespace = namespace
        self.documentID = documentID
        self.sqliteCode = sqliteCode
        self.underlying = underlying
    }

    /// The phases in which a successfully parsed command can fail.
    package enum Phase: Sendable {
        /// While parts that depend on no document were computed.
        case optimization
        /// Before the first document was read.
        case preparation
        /// While documents were read or changed.
        case execution
    }

    /// Returns the same error with the phase in which it occurred.
    package func during(_ phase: Phase) -> StoreError {
        var error = self
        error.phase = phase
        return error
    }

    /// The message, the collection, the code and the underlying error.
    public var description: String {
        let place = namespace.map { " in \($0)" } ?? ""
        let below = underlying.map { ": \($0)" } ?? ""
        return "\(message)\(place) (\(code))\(below)"
    }
}

extension StoreError {
    /// Whether the error concerns one write only, so that others can continue.
    package var concernsWrite: Bool {
        sqliteCode == nil || code == .duplicateKey
    }

    /// Whether the file or the transaction failed, not the single write.
    package var concernsFile: Bool {
        switch code {
        case .busy, .diskFull, .ioError, .corrupt, .closed, .readOnly, .cannotOpen, .internalError,
            .exceededMemoryLimit:
            true
        default: false
        }
    }
}

// MARK: - Common errors

extension StoreError {
    /// Returns an error with a number that has no name.
    ///
    /// - Parameters:
    ///   - code: the number of a place in the server's source.
    ///   - message: the server's text at that place.
    package static func location(_ code: Int32, _ message: String) -> StoreError {
        StoreError(Code(rawValue: code), message)
    }

    /// Returns the error for a view where only collections are allowed.
    package static func view(_ namespace: Namespace) -> StoreError {
        StoreError(
            .commandNotSupportedOnView, "Namespace \(namespace) is a view, not a collection",
            namespace: namespace)
    }

    /// The error for the use of a transaction after its end.
    package static var transactionEnded: StoreError {
        StoreError(.closed, "The transaction has ended")
    }
}
