internal import BSONStore
internal import StitchWire

/// Describes the server to a driver.
///
/// Source: the drivers' specification "Server Discovery and Monitoring" and the handshake's.
enum HelloCommand {
    static let definition = CommandDefinition(
        "hello", aliases: [], [.stable, .unauthenticated, .whileStopping, .vital],
        fields: nil, required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none, .store(run))
    static let legacyDefinition = CommandDefinition(
        "isMaster", aliases: ["ismaster"], [.unauthenticated, .whileStopping, .vital],
        fields: nil, required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        try remember(call)
        guard let known = try topology(call), call["maxAwaitTimeMS"] != nil else {
            return .reply(try signingIn(reply(call), call, backend))
        }
        let wait = try call.count("maxAwaitTimeMS") ?? 0
        let member = call.server.member
        let standing = member.standing
        guard known.process == call.server.processID, wait > 0, known.changes >= standing.changes
        else { return .reply(reply(call)) }
        guard known.changes == standing.changes else {
            throw CommandFailure(
                31382,
                "Received a topology version with counter: \(known.changes) which is greater than "
                    + "the server topology version counter: \(standing.changes)")
        }
        // The end of a step-down wakes no callback, so the wait ends by then.
        let limit = ContinuousClock.now + .milliseconds(min(wait, 600_000))
        return .waiting(
            CommandWait(
                deadline: min(limit, standing.awayUntil ?? limit),
                subscribe: { wake in member.wait(after: standing.changes, wake) },
                again: { _ in .reply(reply(call)) }, abandon: {}))
    }

    /// Stores the client's metadata, which it may send once.
    private static func remember(_ call: CommandCall) throws(CommandFailure) {
        guard let client = call.body["client"] else { return }
        guard let client = client.documentValue else {
            throw CommandFailure(
                .typeMismatch,
                "The client metadata document must be of type object")
        }
        guard client.byteCount <= 512 else {
            throw CommandFailure(
                .badValue,
                "The client metadata document must be less then or equal to 512 bytes")
        }
        let isFirst = call.connection.state.withLock { state in
            guard state.client == nil else { return false }
            state.client = client
            if let own = client["stitchsync"]?.documentValue, own["device"] != nil {
                state.backlog = StitchsyncReportBacklogCommand.backlog(of: own)
            }
            state.applicationName = client["application"]?.documentValue?["name"]?.stringValue
            return true
        }
        guard isFirst else {
            throw CommandFailure(
                186, "The client metadata document may only be sent in the first hello")
        }
    }

    /// Returns the `topologyVersion` that the client knows, if it waits for a change.
    private static func topology(
        _ call: CommandCall
    ) throws(CommandFailure) -> (process: BSONObjectID, changes: Int64)? {
        guard let version = call.document("topologyVersion") else {
            guard call["maxAwaitTimeMS"] == nil else {
                throw CommandFailure(
                    31368,
                    "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")
            }
            return nil
        }
        guard call["maxAwaitTimeMS"] != nil else {
            throw CommandFailure(
                31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
        }
        guard let process = version["processId"]?.objectIDValue,
            let changes = version["counter"]?.int64Value
        else { return nil }
        return (process, changes)
    }

    /// Adds the fields about signing in that the client asked for.
    private static func signingIn(
        _ reply: BSONDocument, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> BSONDocument {
        var reply = reply
        if let name = call.string("saslSupportedMechs"), let parts = name.splitAtFirstDot {
            let names = try backend.signIn.mechanisms(parts.tail, parts.head).map(\.rawValue)
            reply.append(
                "saslSupportedMechs", .array(BSONArray(names.map { BSONValue.string($0) })))
            // A client whose guessed mechanism does not fit starts a new sign-in.
            let guess = call.document("speculativeAuthenticate")?["mechanism"]?.stringValue
            if let guess, !names.contains(guess) { return reply }
        }
        if let start = call.document("speculativeAuthenticate"), start["saslStart"] != nil {
            let database = start["db"]?.stringValue ?? "admin"
            // A client under a delay starts a new sign-in, and waits there.
            try DatabaseName.check(database)
            // Read before the clock: without a delay it is the time of the reading.
            let opening = backend.signIn.opening(start, database, call.connection)
            let now = call.server.signIns.now
            guard opening <= now else { return reply }
            do {
                let answer = try backend.signIn.start(
                    start, database: database, call.connection, began: now)
                reply.append("speculativeAuthenticate", .document(answer))
            } catch is CommandFailure, is DelayedFailure, is AwaitedKeys {
                // The client starts a new sign-in, which reports the error.
                return reply
            }
        }
        return reply
    }

    /// Returns the version by which drivers know whether their view of the server is current.
    static func topologyVersion(_ server: ServerContext) -> BSONValue {
        [
            "processId": .objectID(server.processID),
            "counter": .int64(server.member.standing.changes),
        ]
    }

    /// The parts of this server that MongoDB does not have.
    private static func extensions(_ server: ServerContext) -> BSONDocument {
        var parts: BSONDocument = [
            "tombstones": 1, "concurrent": 1, EchoFilter.feature: 1, BriefEvent.feature: 1,
            StitchsyncReportBacklogCommand.feature: 1,
        ]
        if server.settings.allowsAnonymous { parts.append("anonymous", 1) }
        if server.settings.signUps != nil { parts.append("signUp", 1) }
        if server.mailer != nil { parts.append("passwordMail", 1) }
        return parts
    }

    private static func reply(_ call: CommandCall) -> BSONDocument {
        let server = call.server
        let address = server.settings.advertised ?? call.connection.local
        let time = server.clock.now
        let written = BSONDatetime(milliseconds: Int64(time.seconds) * 1_000)
        let standing = server.member.standing
        let moment: BSONValue = ["ts": .timestamp(time), "t": .int64(standing.term)]
        var reply: BSONDocument = [
            "topologyVersion": [
                "processId": .objectID(server.processID), "counter": .int64(standing.changes),
            ],
            "hosts": [.string(address)], "setName": .string(server.settings.replicaSet),
            "setVersion": 1,
            call.name == "hello" ? "isWritablePrimary" : "ismaster":
                .bool(standing.isPrimary),
            "secondary": .bool(!standing.isPrimary), "me": .string(address),
            "lastWrite": [
                "opTime": moment, "lastWriteDate": .datetime(written),
                "majorityOpTime": moment, "majorityWriteDate": .datetime(written),
            ],
            "maxBsonObjectSize": 16_777_216, "maxMessageSizeBytes": 48_000_000,
            "maxWriteBatchSize": 100_000, "localTime": .datetime(.now),
            "logicalSessionTimeoutMinutes": .int32(Int32(server.settings.sessionTimeoutMinutes)),
            "connectionId": .int32(call.connection.id), "minWireVersion": 0,
            "maxWireVersion": .int32(server.settings.version.wire), "readOnly": false,
            "stitchsync": .document(extensions(server)),
        ]
        if standing.isPrimary {
            reply.append("primary", .string(address))
            reply.append("electionId", .objectID(standing.electionID))
        }
        if call.flag("helloOk") { reply.append("helloOk", true) }
        let wanted = (call.array("compression") ?? []).compactMap(\.stringValue)
        let compressors = WireCompressor.known(among: wanted)
        if !compressors.isEmpty {
            reply.append("compression", .array(BSONArray(compressors.map { .string($0) })))
        }
        return reply
    }
}
