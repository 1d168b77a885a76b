internal import BSONStore

/// A row of the table of rejected writes.
struct RejectedWriteRecord: Sendable {
    /// The state of the refused write.
    enum State: Int64 {
        /// The write was reverted.
        case reverted = 0
        /// The document is paused with the write; the report to the app removes the row.
        case paused = 1
        /// The document is paused with the write, and the app has to decide.
        case asking = 2
    }

    var state: State
    /// The number of the transaction; writes refused in one transaction are reported together.
    let batch: Int64
    /// The record's revision when the refusal was stored.
    ///
    /// In the state `asking` it shows whether the document was written before the app's answer.
    var revision: Int64
    let write: RejectedWrite<BSONDocument>
    /// The number of the remote's history at the time of the answer; 0 where it has none.
    let serverVersion: Int64
}

extension RejectedWriteRecord {
    /// The stored form, without id and state.
    var entry: BSONDocument {
        var entry: BSONDocument = [
            "op": write.operationID.value, "kind": .string(write.change.rawValue),
            "write": .document(write.compensatingWrite.details), "reason": .string(write.reason),
            "code": .int64(Int64(write.code)), "at": .datetime(write.time),
            "server": .int64(serverVersion), "revision": .int64(revision),
            "edited": .bool(write.hasLaterEdits),
        ]
        if let document = write.document { entry.append("document", .document(document)) }
        if let later = write.laterDocument { entry.append("later", .document(later)) }
        if let base = write.base { entry.append("base", .document(base)) }
        return entry
    }

    /// Reads a row; `nil` for an invalid one.
    init?(id: Int64, state: Int64, batch: Int64, _ entry: BSONDocument, _ namespace: Namespace) {
        guard let state = State(rawValue: state),
            let operation = entry["op"].flatMap(OperationID.init),
            let change = entry["kind"]?.stringValue.flatMap(PendingChange.init),
            let reason = entry["reason"]?.stringValue,
            let write = CompensatingWrite(reason: reason, details: entry["write"]?.documentValue),
            let code = entry["code"]?.int64Value, case .datetime(let time) = entry["at"]
        else { return nil }
        self.state = state
        self.batch = batch
        revision = entry["revision"]?.int64Value ?? 0
        serverVersion = entry["server"]?.int64Value ?? 0
        self.write = RejectedWrite(
            id: id, namespace: namespace, operationID: operation, change: change,
            document: entry["document"]?.documentValue,
            hasLaterEdits: entry["edited"]?.boolValue ?? false,
            laterDocument: entry["later"]?.documentValue, base: entry["base"]?.documentValue,
            compensatingWrite: write, code: Int(code), time: time)
    }
}

extension RejectedWriteRecord {
    /// Returns the error that reports writes with the same batch and state.
    static func error(_ rejections: [RejectedWriteRecord]) -> SyncError? {
        guard let first = rejections.first else { return nil }
        let writes = rejections.map(\.write)
        let isPause = first.state != .reverted
        return SyncError(
            isPause ? .rejected : .compensatingWrite,
            isPause ? first.write.reason : CompensatingWrite.text, namespace: first.write.namespace,
            documentID: writes.count == 1 ? first.write.documentID : nil,
            underlying: CompensatingWriteError(
                writes.map(\.compensatingWrite), rejectedWriteIDs: writes.map(\.id),
                code: first.write.code))
    }
}
