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
            if let wanted = data["appName"]?.stringValue, !client.hasSameBytes(as: wanted) {
                return false
            }
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
            labels = ErrorLabels.labels(Int32(clamping: code), command)
        }
        let refusal = CommandFailure(
            Int32(clamping: code), "Failing command via 'failCommand' failpoint", labels: labels)
        return refusal.reply
    }
}

extension Dispatcher {
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
        let labels = ErrorLabels.labels(Int32(clamping: code), command)
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
