internal import BSONStore

/// The error labels of MongoDB, by error code.
enum ErrorLabels {
    /// Errors after which a write may be sent again.
    ///
    /// Source: the server's `error_codes.yml`, category RetriableError.
    private static let retryable: Set<Int32> = [
        6, 7, 89, 91, 134, 189, 262, 317, 358, 384, 402, 9001, 10107, 11600, 11602, 13435, 13436,
    ]

    /// Returns the labels that tell a driver whether to try a command or its transaction again.
    static func labels(_ code: Int32, _ command: BSONDocument) -> [String] {
        guard command["txnNumber"] != nil else { return [] }
        let name = command.keys.first ?? ""
        let isEnd = ["commitTransaction", "abortTransaction"].contains(name)
        let isTransaction = command["autocommit"] != nil
        var labels: [String] = []
        if isTransaction, transient.contains(code) || !isEnd && retryable.contains(code) {
            labels.append("TransientTransactionError")
        }
        if isEnd || !isTransaction, retryable.contains(code) {
            labels.append("RetryableWriteError")
        }
        return labels
    }

    /// Whether an error is of the server's present state, and the same command may succeed later.
    static func isPassing(_ code: Int32) -> Bool {
        retryable.contains(code) || transient.contains(code) || code == maxTimeExpired
    }

    /// Whether an error tells that the server stops, is no primary, or cannot be reached.
    static func isOfServer(_ code: Int32) -> Bool { retryable.contains(code) }

    private static let maxTimeExpired: Int32 = 50

    /// Errors after which a whole transaction may be tried again.
    ///
    /// Source: the server's `error_labels.cpp`: LockTimeout, WriteConflict, SnapshotTooOld,
    /// SnapshotUnavailable, StaleDbVersion, StaleChunkHistory, NoSuchTransaction,
    /// PreparedTransactionInProgress, MigrationConflict, ShardCannotRefreshDueToLocksHeld.
    static let transient: Set<Int32> = [24, 112, 239, 246, 249, 250, 251, 267, 272, 343]
}
