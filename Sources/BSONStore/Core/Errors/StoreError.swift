/// Says what the store, a query or an update refused, with MongoDB's error number.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of fault, MongoDB's number.
    public var code: Code
    /// A sentence for people; MongoDB's text where MongoDB has one.
    public var message: String
    /// The collection concerned, where there is one.
    public var namespace: Namespace?
    /// The document concerned, where there is one.
    public var documentID: BSONValue?
    /// For a duplicate key, the fields of the index that was violated.
    public var keyPattern: BSONDocument?
    /// For a duplicate key, the values that are there already.
    public var keyValue: BSONDocument?
    /// For a document that failed validation, its id and which rules it broke.
    public var errorInfo: BSONDocument?
    /// For several writes that were sent together, what was done and which of them were refused.
    public var writes: BulkWriteResult?
    /// When a command failed that was understood.
    package var phase: Phase?
    /// SQLite's extended result code, when it was SQLite that failed.
    public var sqliteCode: Int32?
    /// The error below this one, where there is one.
    public var underlying: (any Error)?

    /// Names a fault; what it concerns is optional.
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

    /// When a command fails that was understood.
    package enum Phase: Sendable {
        /// While what depends on no document was computed.
        case optimization
        /// Before the first document was read.
        case preparation
        /// While documents were read or changed.
        case execution
    }

    /// The same error, noted as met in a phase.
    package func during(_ phase: Phase) -> StoreError {
        var error = self
        error.phase = phase
        return error
    }

    /// Message, collection, code and the error below.
    public var description: String {
        let place = namespace.map { " in \($0)" } ?? ""
        let below = underlying.map { ": \($0)" } ?? ""
        return "\(message)\(place) (\(code))\(below)"
    }
}
