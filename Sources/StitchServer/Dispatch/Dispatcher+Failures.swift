internal import BSONStore
internal import StitchWire

// Faults that tests inject by the fail point `failCommand`.
extension Dispatcher {
    /// Returns the fault to inject into a command, if any.
    func injected(
        _ name: String, _ request: WireRequest, _ connection: ClientConnection
    ) -> BSONDocument? {
        guard server.settings.allowsTestCommands, name != "configureFailPoint" else { return nil }
        // The first hello, which carries the client's metadata, also counts.
        let client =
            request.body["client"]?.documentValue?["application"]?.documentValue?["name"]?
            .stringValue ?? connection.state.withLock { $0.applicationName }
        let fault = server.failPoints.fault("failCommand") { data in
            if let wanted = data["appName"]?.stringValue, wanted != client { return false }
            return data["failCommands"]?.arrayValue?.contains { value in
                value.stringValue.map { CommandTable.areSame($0, name) } ?? false
            } ?? false
        }
        guard let fault else { return nil }
        if fault["blockConnection"]?.isTrue == true {
            ThreadPause.wait(milliseconds: fault["blockTimeMS"]?.wholeNumber ?? 0)
        }
        return fault
    }

    /// Returns the error reply that a fault asks for.
    func refusal(_ fault: BSONDocument, _ command: BSONDocument) -> BSONDocument? {
        guard let code = fault["errorCode"]?.wholeNumber else { return nil }
        var labels: [String] = []
        if let given = fault["errorLabels"]?.arrayValue {
            labels = given.compactMap(\.stringValue)
        } else {
            labels = Self.labels(Int32(clamping: code), command)
        }
        let refusal = CommandFailure(
            Int32(clamping: code), "Failing command via 'failCommand' failpoint", labels: labels)
        return refusal.reply
    }
}

extension Dispatcher {
    /// Errors after which a driver may retry a write.
    ///
    /// Source: the server's `error_codes.yml`, category RetriableError.
    private static let retryable: Set<Int32> = [
        6, 7, 89, 91, 134, 189, 262, 317, 358, 384, 402, 9001, 10107, 11600, 11602, 13435, 13436,
    ]

    /// Returns the error labels for an injected error.
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

    /// Errors after which a driver may retry a whole transaction.
    ///
    /// Source: the server's `error_labels.cpp`: LockTimeout, WriteConflict, SnapshotTooOld,
    /// SnapshotUnavailable, StaleDbVersion, StaleChunkHistory, NoSuchTransaction,
    /// PreparedTransactionInProgress, MigrationConflict, ShardCannotRefreshDueToLocksHeld.
    static let transient: Set<Int32> = [24, 112, 239, 246, 249, 250, 251, 267, 272, 343]

    /// Returns the error labels of a reply with an injected `writeConcernError`.
    func labels(
        _ fault: BSONDocument?, of error: BSONValue, _ command: BSONDocument
    ) -> BSONValue? {
        guard let fault, fault["writeConcernError"] != nil else { return nil }
        if let given = fault["errorLabels"] { return given }
        // In a transaction only the final command waits for other members.
        let isEnd = ["commitTransaction", "abortTransaction"].contains(command.keys.first)
        guard isEnd || command["autocommit"] == nil else { return nil }
        let code = error.documentValue?["code"]?.wholeNumber ?? 0
        let labels = Self.labels(Int32(clamping: code), command)
        return labels.isEmpty ? nil : .array(BSONArray(labels.map { .string($0) }))
    }
}

extension ServerContext {
    /// Whether a test makes commands with a time limit time out.
    func alwaysTimesOut(_ command: BSONDocument) -> Bool {
        guard settings.allowsTestCommands, command["maxTimeMS"]?.isTrue == true,
            command.keys.first != "configureFailPoint"
        else { return false }
        return timesOut
    }

    /// Whether a test makes time limits expire.
    var timesOut: Bool { failPoints.fault("maxTimeAlwaysTimeOut") { _ in true } != nil }
}
