internal import BSONStore
internal import StitchWire

// Faults that tests ask for by the fail point `failCommand`.
extension Dispatcher {
    /// What is to go wrong with a command, when something is.
    func injected(
        _ name: String, _ request: WireRequest, _ connection: ClientConnection
    ) -> BSONDocument? {
        guard server.settings.allowsTestCommands, name != "configureFailPoint" else { return nil }
        let client = connection.state.withLock { $0.applicationName }
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

    /// The answer of a command that is to be refused.
    func refusal(_ fault: BSONDocument) -> BSONDocument? {
        guard let code = fault["errorCode"]?.wholeNumber else { return nil }
        var labels: [String] = []
        for label in fault["errorLabels"]?.arrayValue ?? [] {
            if let text = label.stringValue { labels.append(text) }
        }
        let refusal = CommandFault(
            Int32(clamping: code), "Failing command via 'failCommand' failpoint", labels: labels)
        return refusal.reply
    }
}

extension ServerContext {
    /// Whether tests want commands with a time limit to run out of it.
    func alwaysTimesOut(_ command: BSONDocument) -> Bool {
        guard settings.allowsTestCommands, command["maxTimeMS"]?.isTrue == true,
            command.keys.first != "configureFailPoint"
        else { return false }
        return timesOut
    }

    /// Whether tests want time limits to be over.
    var timesOut: Bool { failPoints.fault("maxTimeAlwaysTimeOut") { _ in true } != nil }
}
