internal import BSONStore
internal import StitchWire

extension WorkRank {
    /// Returns the kind of a command's work.
    ///
    /// - Parameter isOperator: whether the user has an administrator's role.
    init(command name: String, ofOperator isOperator: Bool) {
        // The refusal of an unknown command takes no time.
        let isVital = CommandTable.find(name)?.traits.contains(.vital) ?? true
        self = isVital ? .vital : isOperator ? .ofOperator : .ordinary
    }

    /// Returns the kind of a request's work.
    init(_ request: WireRequest, on connection: ClientConnection, _ server: ServerContext) {
        let isOperator = connection.state.withLock { $0.user }?.isOperator ?? false
        self.init(command: request.body.keys.first ?? "", ofOperator: isOperator)
        // The shell's form of `currentOp`; it reads no documents, but its other stages may work.
        guard isOperator || !server.settings.requiresSignIn, request.body.keys.first == "aggregate",
            let first = request.body["pipeline"]?.arrayValue?.values.first?.documentValue
        else { return }
        if first.keys.first == "$currentOp" { self = .vital }
    }
}
