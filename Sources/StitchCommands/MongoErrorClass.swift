package import StitchSync

/// The classification of failures (rule R7); a pure table.
///
/// Sources: MongoDB's `error_codes.yml`, the driver specifications "Retryable Reads", "Retryable
/// Writes" and "Change Streams".
package enum MongoErrorClass {
    /// Returns the class of a server's error code.
    ///
    /// - Parameter message: the server's message; code 13 means both a missing authentication and a
    ///   permanent lack of privileges.
    package static func decide(
        code: Int, labels: Set<String>, message: String = ""
    ) -> RemoteError.Class {
        if historyCodes.contains(code) || labels.contains("NonResumableChangeStreamError") {
            return .historyLost
        }
        if signInCodes.contains(code) || code == 13 && message.contains("requires authentication") {
            return .unauthenticated
        }
        if retryableCodes.contains(code) || !labels.isDisjoint(with: retryableLabels) {
            return .retryable
        }
        return rejectedCodes.contains(code) ? .rejected : .unknown
    }

    /// The labels of errors after which a retry may succeed.
    package static let retryableLabels: Set<String> = [
        "RetryableWriteError", "TransientTransactionError", "UnknownTransactionCommitResult",
        "ResumableChangeStreamError", "NetworkError", "SystemOverloadedError", "RetryableError",
    ]

    /// The codes of a history that does not reach back to the token.
    package static let historyCodes: Set<Int> = [
        136,  // CappedPositionLost
        222,  // CloseChangeStream
        260,  // InvalidResumeToken
        280,  // ChangeStreamFatalError
        286,  // ChangeStreamHistoryLost
        40_647, 40_649,  // an invalid token, or one of another cluster
    ]

    /// The codes after which the client must authenticate again: AuthenticationFailed,
    /// ReauthenticationRequired.
    package static let signInCodes: Set<Int> = [18, 391]

    /// The codes of failures that the request did not cause.
    package static let retryableCodes: Set<Int> = [
        6, 7, 89,  // HostUnreachable, HostNotFound, NetworkTimeout
        24, 46,  // LockTimeout, LockBusy
        43,  // CursorNotFound
        50, 262,  // MaxTimeMSExpired, ExceededTimeLimit
        63, 133, 134, 150, 234, 13_388,  // stale or unreachable shards
        64, 79, 91, 100,  // write concern not met, ShutdownInProgress
        112, 225, 244, 251, 256,  // WriteConflict and transactions that ended
        146,  // ExceededMemoryLimit
        189, 10_107, 11_600, 11_601, 11_602, 13_435, 13_436,  // no primary now, interrupted
        202, 290, 317, 402, 462,  // time out, out of date, out of connections, overloaded
        9_001,  // SocketException
        14_031, 12_501,  // disk full
        16_500,  // throttled, at a service that speaks MongoDB's protocol
    ]

    /// Whether the server may have refused the operators of a request rather than its purpose.
    package static func mayLackOperators(_ error: RemoteError) -> Bool {
        switch error.errorClass {
        case .rejected, .unknown: error.code != 13
        case .retryable, .unauthenticated, .historyLost, .collectionDropped: false
        }
    }

    /// Whether another stream may go on where one failed.
    ///
    /// Source: the drivers' specification "Change Streams", resumable errors.
    package static func isOfStream(_ failure: MongoFailure) -> Bool {
        switch failure.kind {
        case .network, .busy: true
        case .server:
            streamCodes.contains(failure.code)
                || failure.labels.contains("ResumableChangeStreamError")
        case .collectionDropped, .authentication, .protocolError, .usage: false
        }
    }

    /// The codes of a stream that ended without its history.
    private static let streamCodes: Set<Int> = [
        6, 7, 89, 9_001,  // HostUnreachable, HostNotFound, NetworkTimeout, SocketException
        43, 237,  // CursorNotFound, CursorKilled
        63, 133, 150, 234, 13_388,  // stale or unreachable shards
        91, 189, 262, 10_107, 11_600, 11_602, 13_435, 13_436,  // no primary now, interrupted
    ]

    /// The codes after which the same request will be refused again.
    package static let rejectedCodes: Set<Int> = [
        2, 9, 14, 15, 16,  // BadValue, FailedToParse, TypeMismatch, Overflow, InvalidLength
        13,  // Unauthorized
        20, 22, 28, 40,  // IllegalOperation, InvalidBSON, PathNotViable, ConflictingUpdateOperators
        52, 53, 54, 55, 56, 57,  // names of fields, InvalidIdField
        59, 115, 166, 167, 238,  // CommandNotFound, CommandNotSupported, ...OnView, NotImplemented
        66, 72, 73,  // ImmutableField, InvalidOptions, InvalidNamespace
        121,  // DocumentValidationFailure
        226,  // a subscription to a field that is not queryable
        10_003, 10_334, 11_000, 11_001,  // capped, BSONObjectTooLarge, DuplicateKey
        17_280, 17_419, 17_420,  // KeyTooLong, the document after the update is too large
    ]
}

extension MongoErrorClass {
    /// Returns the class of any failure.
    package static func decide(_ failure: MongoFailure) -> RemoteError.Class {
        switch failure.kind {
        case .server:
            decide(
                code: failure.code, labels: failure.labels, message: failure.message)
        case .collectionDropped: .collectionDropped
        case .network, .busy: .retryable
        case .authentication: .unauthenticated
        case .protocolError, .usage: .unknown
        }
    }
}
