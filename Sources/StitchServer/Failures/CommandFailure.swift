internal import BSONStore

/// The error with which the server refuses a command.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
    /// MongoDB's error code.
    var code: Int32
    /// The message, with MongoDB's text where MongoDB has one.
    var message: String
    /// The error labels, such as `TransientTransactionError`, by which drivers decide to retry.
    var labels: [String] = []
    /// Further fields of the reply, such as `keyPattern`.
    var details = BSONDocument()

    /// Creates a failure.
    init(
        _ code: Int32, _ message: String, labels: [String] = [],
        details: BSONDocument = BSONDocument()
    ) {
        self.code = code
        self.message = message
        self.labels = labels
        self.details = details
    }

    /// Creates a failure from an error code of the store.
    init(_ code: StoreError.Code, _ message: String) {
        self.init(code.rawValue, message)
    }

    /// Converts an error; errors of unknown types become internal errors.
    init(_ error: any Error) {
        if let fault = error as? CommandFailure {
            self = fault
        } else if let error = error as? StoreError {
            self.init(error.code.rawValue, error.message)
            if let pattern = error.keyPattern { details.append("keyPattern", .document(pattern)) }
            if let value = error.keyValue { details.append("keyValue", .document(value)) }
            if let info = error.errorInfo { details.append("errInfo", .document(info)) }
        } else {
            self.init(.internalError, "\(error)")
        }
    }

    /// Returns an error with the prefix that MongoDB adds to errors after parsing.
    ///
    /// - Parameters:
    ///   - phase: the phase to match; an error of another phase is returned unchanged.
    ///   - what: the activity, such as "Executor error during find command".
    static func framed(
        _ error: any Error, of phase: StoreError.Phase = .execution, _ what: String
    ) -> any Error {
        guard var error = error as? StoreError, error.phase == phase,
            error.sqliteCode == nil || error.code == .duplicateKey
        else { return error }
        error.message = "\(what) :: caused by :: \(error.message)"
        error.phase = nil
        return error
    }

    /// The name of the code.
    var codeName: String { ErrorNames.name(of: code) }

    /// The reply to the command.
    var reply: BSONDocument {
        var reply: BSONDocument = [
            "ok": 0.0, "errmsg": .string(message), "code": .int32(code),
            "codeName": .string(codeName),
        ]
        for (key, value) in details { reply.append(key, value) }
        // ChangeStreamFatalError and ChangeStreamHistoryLost.
        let isLost = code == 280 || code == 286
        let labels = isLost ? labels + ["NonResumableChangeStreamError"] : labels
        if !labels.isEmpty {
            reply.append("errorLabels", .array(BSONArray(labels.map { .string($0) })))
        }
        return reply
    }

    /// Returns the entry in `writeErrors` for one write of a command.
    func writeError(at index: Int) -> BSONDocument {
        var entry: BSONDocument = ["index": .int32(Int32(clamping: index)), "code": .int32(code)]
        for (key, value) in details { entry.append(key, value) }
        entry.append("errmsg", .string(message))
        return entry
    }

    /// Returns the entry in the results of `bulkWrite` for one write that failed.
    func bulkWriteError(at index: Int) -> BSONDocument {
        var entry: BSONDocument = [
            "ok": 0.0, "idx": .int32(Int32(clamping: index)), "code": .int32(code),
            "errmsg": .string(message), "n": 0,
        ]
        for (key, value) in details { entry.append(key, value) }
        return entry
    }

    /// The message and the code's name.
    var description: String { "\(message) (\(codeName))" }
}

extension CommandFailure {
    /// MongoDB's answer of a server without Atlas Search.
    static let searchUnavailable = CommandFailure(
        31082,
        "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage "
            + "requires additional configuration. Please connect to Atlas or an AtlasCLI local "
            + "deployment to enable. For more information on how to connect, see "
            + "https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs.")
}
