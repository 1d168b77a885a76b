internal import BSONStore
internal import StitchWire

/// Tells a driver whom it talks to.
///
/// Source: the drivers' specification "Server Discovery and Monitoring" and the handshake's.
enum HelloCommand {
    static let rule = CommandRule(
        "hello", [.stable, .unauthenticated, .whileStopping], .store(run))
    static let legacyRule = CommandRule(
        "isMaster", aliases: ["ismaster"], [.unauthenticated, .whileStopping], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        try remember(call)
        guard let known = try topology(call), call["maxAwaitTimeMS"] != nil else {
            return .reply(try signingIn(reply(call), call, store))
        }
        let wait = try call.count("maxAwaitTimeMS") ?? 0
        guard known == call.server.processID, wait > 0 else { return .reply(reply(call)) }
        return .waiting(
            CommandWait(
                deadline: .now + .milliseconds(min(wait, 600_000)),
                again: { isTimeUp in .reply(reply(call)) }, abandon: {}))
    }

    /// Keeps what the client says about itself, which it may do once.
    private static func remember(_ call: CommandCall) throws(CommandFault) {
        guard let client = call.body["client"] else { return }
        guard let client = client.documentValue else {
            throw CommandFault(
                .typeMismatch,
                "The client metadata document must be of type object")
        }
        guard client.byteCount <= 512 else {
            throw CommandFault(
                .badValue,
                "The client metadata document must be less then or equal to 512 bytes")
        }
        let isFirst = call.connection.state.withLock { state in
            guard state.client == nil else { return false }
            state.client = client
            state.applicationName = client["application"]?.documentValue?["name"]?.stringValue
            return true
        }
        guard isFirst else {
            throw CommandFault(
                186, "The client metadata document may only be sent in the first hello")
        }
    }

    /// The server that the client knows, when it wants to be told of a change.
    private static func topology(_ call: CommandCall) throws(CommandFault) -> BSONObjectID? {
        guard let version = call.document("topologyVersion") else {
            guard call["maxAwaitTimeMS"] == nil else {
                throw CommandFault(
                    31368,
                    "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")
            }
            return nil
        }
        guard call["maxAwaitTimeMS"] != nil else {
            throw CommandFault(
                31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
        }
        return version["processId"]?.objectIDValue
    }

    /// Adds what the client asks about signing in.
    private static func signingIn(
        _ reply: BSONDocument, _ call: CommandCall, _ store: StoreBackend
    ) throws -> BSONDocument {
        var reply = reply
        if let name = call.string("saslSupportedMechs"), let dot = name.firstIndex(of: ".") {
            let user = try store.user(
                String(name[name.index(after: dot)...]), String(name[..<dot]))
            let names = (user?.credentials ?? []).map { BSONValue.string($0.mechanism.rawValue) }
            if user != nil { reply.append("saslSupportedMechs", .array(BSONArray(names))) }
        }
        if let start = call.document("speculativeAuthenticate"), start["saslStart"] != nil {
            let database = start["db"]?.stringValue ?? "admin"
            // Who has to wait begins anew, and waits then.
            guard store.opening(start, database, call.connection) <= .now else { return reply }
            do {
                let answer = try store.startSignIn(start, database: database, call.connection)
                reply.append("speculativeAuthenticate", .document(answer))
            } catch is CommandFault, is DelayedFault {
                // The client begins anew, and is told then.
                return reply
            }
        }
        return reply
    }

    /// What tells drivers whether they know the newest of the server.
    static func topologyVersion(_ server: ServerContext) -> BSONValue {
        ["processId": .objectID(server.processID), "counter": .int64(6)]
    }

    private static func reply(_ call: CommandCall) -> BSONDocument {
        let server = call.server
        let address = server.settings.advertised ?? call.connection.local
        let time = server.clock.now
        let written = BSONDatetime(milliseconds: Int64(time.seconds) * 1_000)
        let moment: BSONValue = ["ts": .timestamp(time), "t": .int64(1)]
        var reply: BSONDocument = [
            "topologyVersion": topologyVersion(server),
            "hosts": [.string(address)], "setName": .string(server.settings.replicaSet),
            "setVersion": 1,
            call.name == "hello" ? "isWritablePrimary" : "ismaster": true,
            "secondary": false, "primary": .string(address), "me": .string(address),
            "electionId": .objectID(server.electionID),
            "lastWrite": [
                "opTime": moment, "lastWriteDate": .datetime(written),
                "majorityOpTime": moment, "majorityWriteDate": .datetime(written),
            ],
            "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
            "maxWriteBatchSize": 100_000, "localTime": .datetime(.now),
            "logicalSessionTimeoutMinutes": .int32(Int32(server.settings.sessionTimeoutMinutes)),
            "connectionId": .int32(call.connection.id), "minWireVersion": 0,
            "maxWireVersion": 21, "readOnly": false,
        ]
        if call.flag("helloOk") { reply.append("helloOk", true) }
        let wanted = (call.array("compression") ?? []).compactMap(\.stringValue)
        let compressors = WireCompressor.known(among: wanted)
        if !compressors.isEmpty {
            reply.append("compression", .array(BSONArray(compressors.map { .string($0) })))
        }
        return reply
    }
}
