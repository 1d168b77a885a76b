internal import BSONStore

/// The transaction or retryable write that a command is part of, as its fields name it.
///
/// Source: the server's `session_options.idl` and the drivers' specifications "Transactions" and
/// "Retryable Writes".
struct TransactionRequest: Sendable, Hashable {
    /// The transaction number in the session.
    let number: Int64
    /// Whether it belongs to a multi-document transaction.
    let isTransaction: Bool
    /// Whether it starts that transaction.
    let starts: Bool

    /// Reads the fields; `nil` without a transaction number.
    ///
    /// - Throws: 72 (InvalidOptions), 14, 263 and 50768 with MongoDB's texts.
    init?(_ body: BSONDocument, _ signature: CommandSignature, hasSession: Bool)
        throws(CommandFailure)
    {
        let autocommit = try Self.flag(body, "autocommit")
        let starts = try Self.flag(body, "startTransaction")
        guard let value = body["txnNumber"] else {
            if autocommit != nil {
                throw CommandFailure(
                    .invalidOptions,
                    "'autocommit' field requires a transaction number to also be specified")
            }
            if starts != nil {
                throw CommandFailure(
                    .invalidOptions,
                    "'startTransaction' field requires a transaction number to also be specified")
            }
            return nil
        }
        guard case .int64(let number) = value else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'OperationSessionInfo.txnNumber' is the wrong type "
                    + "'\(value.type.alias)', expected type 'long'")
        }
        guard hasSession else {
            throw CommandFailure(
                .invalidOptions, "Transaction number requires a session ID to also be specified")
        }
        guard number >= 0 else {
            throw CommandFailure(.invalidOptions, "Transaction number cannot be negative")
        }
        try Self.check(autocommit, starts, signature)
        self.number = number
        isTransaction = autocommit != nil
        self.starts = starts ?? false
    }

    /// The commands that cannot start a transaction.
    private static let noBeginnings = [
        "abortTransaction": "Cannot start a transaction with an abort",
        "commitTransaction": "Cannot start a transaction with a commit",
        "killCursors":
            "Cannot run killCursors as the first operation in a multi-document transaction.",
    ]

    private static func check(
        _ autocommit: Bool?, _ starts: Bool?, _ signature: CommandSignature
    ) throws(CommandFailure) {
        if autocommit == true {
            throw CommandFailure(
                .invalidOptions, "Specifying autocommit=true is not allowed.")
        }
        if starts != nil, autocommit == nil {
            throw CommandFailure(
                .invalidOptions,
                "'startTransaction' field requires 'autocommit' field to also be specified")
        }
        if starts == false {
            throw CommandFailure(
                .invalidOptions, "Specifying startTransaction=false is not allowed.")
        }
        if starts == true, let refusal = Self.noBeginnings[signature.name] {
            throw CommandFailure(263, refusal)
        }
        guard autocommit == nil else { return }
        guard signature.traits.contains(.retryable) else {
            throw CommandFailure(
                50768,
                "txnNumber may only be provided for multi-document transactions and retryable "
                    + "write commands. autocommit:false was not provided, and \(signature.name) is not "
                    + "a retryable write command.")
        }
    }

    private static func flag(
        _ body: BSONDocument, _ field: String
    ) throws(CommandFailure) -> Bool? {
        guard let value = body[field], value.type != .null else { return nil }
        guard let flag = value.boolValue else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'OperationSessionInfo.\(field)' is the wrong type "
                    + "'\(value.type.alias)', expected type 'bool'")
        }
        return flag
    }
}

extension CommandCall {
    /// Refuses a retryable write that may change several documents.
    ///
    /// - Throws: 72 (InvalidOptions).
    func checkRetryable(isMulti: Bool) throws(CommandFailure) {
        guard isMulti, let transaction, !transaction.isTransaction else { return }
        throw CommandFailure(
            .invalidOptions, "Cannot use (or request) retryable writes with multi=true")
    }
}
