internal import BSONStore

/// The client of a connection, as operators see it: its user, its app and what it does.
struct ConnectedClient: Sendable {
    private let connection: ClientConnection
    private let state: ClientConnection.State

    init(_ connection: ClientConnection) {
        self.connection = connection
        state = connection.state.withLock { $0 }
    }

    /// The fields of `currentOp` about the client, by MongoDB's names.
    var fields: BSONDocument {
        var fields: BSONDocument = [
            "connectionId": .int32(connection.id), "client": .string(connection.peer),
            "desc": .string("conn\(connection.id)"),
        ]
        if let name = state.applicationName { fields.append("appName", .string(name)) }
        if let client = state.client { fields.append("clientMetadata", .document(client)) }
        if let user = state.user {
            fields.append(
                "effectiveUsers",
                [["user": .string(user.name.text), "db": .string(user.database.text)]])
        }
        return fields
    }

    /// The entry of `currentOp` for a connection on which no command runs.
    var idleEntry: BSONDocument {
        var entry: BSONDocument = ["type": "op", "active": false, "op": "none", "ns": ""]
        for (name, value) in fields { entry.append(name, value) }
        entry.append("stitchsync", .document(activity(isWaiting: false)))
        return entry
    }

    /// What the connection did so far, which MongoDB's `currentOp` does not have.
    ///
    /// - Parameter isWaiting: whether a command runs or waits.
    func activity(isWaiting: Bool) -> BSONDocument {
        [
            "since": .datetime(state.signedInAt ?? connection.openedAt),
            "lastSeen": .datetime(BSONDatetime(milliseconds: lastSeen)),
            "commands": .int64(Int64(state.commands)),
            "lastCommand": state.lastCommand.map { .string($0) } ?? .null,
            "namespaces": namespaces, "waiting": .bool(isWaiting),
            "isDevice": .bool(connection.device != nil),
        ]
    }

    /// The row of the device that the connection belongs to; `nil` for a client that is no device.
    ///
    /// Connections of one device have the same `key`.
    ///
    /// - Parameter isWaiting: whether a command runs or waits.
    func device(isWaiting: Bool) -> BSONDocument? {
        guard var row = description else { return nil }
        row.append("instance", own?["instance"] ?? .null)
        let parts = [seenID, own?["instance"]?.stringValue].compactMap { $0 }
        row.append(
            "key", .string(parts.count == 2 ? parts.joined(separator: "/") : "\(connection.id)"))
        row.append("addresses", [.string(connection.peer)])
        row.append("connections", [.int32(connection.id)])
        row.append("connected", true)
        row.append("since", .datetime(state.signedInAt ?? connection.openedAt))
        row.append("lastSeen", .datetime(BSONDatetime(milliseconds: lastSeen)))
        row.append("commands", .int64(Int64(state.commands)))
        row.append("lastCommand", state.lastCommand.map { .string($0) } ?? .null)
        row.append("namespaces", namespaces)
        row.append("waiting", .bool(isWaiting))
        row.append("streams", streams)
        row.append("caughtUp", caughtUp)
        row.append("backlog", state.backlog.map { .document($0) } ?? .null)
        return row
    }

    /// The entry of the device for ``SeenDevices``; `nil` for a client whose engine did not name it.
    var seenDevice: BSONDocument? {
        guard seenID != nil, var entry = description else { return nil }
        entry.append("owner", .string(owner))
        entry.append("address", .string(connection.peer))
        entry.append("firstSeen", .datetime(state.signedInAt ?? connection.openedAt))
        entry.append("lastSeen", .datetime(BSONDatetime(milliseconds: lastSeen)))
        entry.append("namespaces", namespaces)
        entry.append("caughtUp", caughtUp)
        entry.append("backlog", state.backlog.map { .document($0) } ?? .null)
        entry.append("instances", .array(BSONArray([own?["instance"]].compactMap { $0 })))
        return entry
    }

    /// The device, its user and its app; `nil` for a client that is no device.
    private var description: BSONDocument? {
        guard let client = connection.device else { return nil }
        return [
            "_id": seenID.map { .string($0) } ?? .null,
            "device": own?["device"] ?? .null,
            "user": state.user.map { .string($0.name.text) } ?? .null,
            "database": state.user.map { .string($0.database.text) } ?? .null,
            "app": client["application"]?.documentValue?["name"] ?? .null,
            "appVersion": own?["appVersion"] ?? .null,
            "platform": client["os"]?.documentValue?["type"] ?? .null,
            "driver": .string(driver),
        ]
    }

    /// What a client of ours tells of itself, which other drivers do not.
    private var own: BSONDocument? { state.client?["stitchsync"]?.documentValue }

    private var owner: String {
        state.user.map { "\($0.database.text).\($0.name.text)" } ?? ""
    }

    /// The id of the device's entry; devices of two users are two, whatever they call themselves.
    private var seenID: String? {
        guard let device = own?["device"]?.stringValue else { return nil }
        return "\(device) \(owner)"
    }

    /// The client on one line of the log, with control characters escaped.
    var line: String {
        var parts: [String] = []
        if let user = state.user {
            let name = String(user.storedID.unicodeScalars.prefix(Self.textMax))
            parts.append("user \(Self.quoted(name))")
        }
        if let name = state.applicationName { parts.append("app \(Self.quoted(name))") }
        if !driver.isEmpty { parts.append("driver \(Self.quoted(driver))") }
        let system = state.client?["os"]?.documentValue?["type"]?.stringValue
        if let system { parts.append("platform \(Self.quoted(system))") }
        return
            "connection \(connection.id) (\((parts + [connection.peer]).joined(separator: ", ")))"
    }

    /// The kind of the user, for metrics.
    var userKind: String {
        guard let user = state.user else { return "none" }
        if user.isAnonymous { return "anonymous" }
        if user.expiry != nil { return "token" }
        return user.isBoundless ? "administrator" : "account"
    }

    /// The app's name for metrics; only users who signed in choose labels.
    var app: String { state.user == nil ? "" : state.applicationName ?? "" }

    /// The maximum length of a name in the log, in characters.
    private static let textMax = 256

    private var driver: String {
        let driver = state.client?["driver"]?.documentValue
        return [driver?["name"], driver?["version"]].compactMap { $0?.stringValue }
            .joined(separator: " ")
    }

    private var lastSeen: Int64 {
        let idle = (ContinuousClock.now - state.lastUsed) / .milliseconds(1)
        return BSONDatetime.now.milliseconds - Int64(idle)
    }

    private var namespaces: BSONValue {
        .array(BSONArray(state.namespaces.map { .string($0.text) }))
    }

    /// The client's change streams with their filters.
    private var streams: BSONValue {
        .array(
            BSONArray(
                state.streams.map { stream in
                    ["namespace": .string(stream.namespace.text), "filter": stream.filter]
                }))
    }

    /// The times up to which the client has all changes, by collection.
    private var caughtUp: BSONValue {
        .array(
            BSONArray(
                state.caughtUp.map { name, time -> BSONValue in
                    ["namespace": .string(name.text), "time": .datetime(time)]
                }))
    }

    private static func quoted(_ text: String) -> String {
        let document: BSONDocument = ["": .string(text)]
        return String(document.extendedJSON(.relaxed).dropFirst(4).dropLast())
    }
}

extension ServerContext {
    /// The clients of the open connections, the oldest first, and whether a command of each runs or
    /// waits.
    var clients: [(client: ConnectedClient, connection: ClientConnection, isWaiting: Bool)] {
        let busy = Set(operations.all.map(\.call.connection.id))
        return connections.withLock { Array($0.values) }.sorted { $0.id < $1.id }.map {
            (ConnectedClient($0), $0, busy.contains($0.id))
        }
    }
}

extension ClientConnection.State {
    /// The maximum number of remembered collections.
    private static let namespacesMax = 8
    /// The maximum length of the name of a remembered collection, in bytes, as MongoDB has it.
    private static let nameBytesMax = 255

    /// Returns a collection's name; `nil` if no collection can have it, so that no client has the
    /// server remember it.
    private static func remembered(_ text: String) -> Name? {
        text.utf8.count <= nameBytesMax ? Name(text) : nil
    }

    /// Notes a command that the client sent.
    mutating func note(_ call: CommandCall) {
        commands += 1
        // Drivers send these of their own accord.
        guard !call.signature.traits.contains(.unauthenticated) else { return }
        lastCommand = call.name
        guard call.database != "admin",
            let collection = call.string("collection") ?? call.target.stringValue,
            let name = Self.remembered("\(call.database).\(collection)")
        else { return }
        noteStream(name, call.body)
        guard namespaces.last != name else { return }
        namespaces.removeAll { $0 == name }
        namespaces.append(name)
        if namespaces.count > Self.namespacesMax { namespaces.removeFirst() }
    }

    /// The maximum size of a remembered filter, in bytes.
    private static let filterBytesMax = 2_048

    /// Remembers a change stream that a command opens, with the filter of its events.
    private mutating func noteStream(_ name: Name, _ command: BSONDocument) {
        let stages = (command["pipeline"]?.arrayValue ?? []).compactMap(\.documentValue)
        guard stages.first?["$changeStream"] != nil else { return }
        let filter = stages.lazy.compactMap { $0["$match"]?.documentValue }.first
        let isSmall = (filter?.byteCount ?? 0) <= Self.filterBytesMax
        streams.removeAll { $0.namespace == name }
        streams.append(
            ClientConnection.FollowedStream(
                namespace: name,
                filter: isSmall ? filter.map { .document($0) } ?? .null : "(long)"))
        if streams.count > Self.namespacesMax { streams.removeFirst() }
    }

    /// The age of the changes that a client is known to have, in milliseconds: a younger one may be
    /// committed after a change with a later time.
    private static let commitMS: Int64 = 1_000

    /// Notes that a change stream's client asks for more, and that there is no more up to a time.
    ///
    /// A device may have opened the stream on another connection.
    mutating func noteCaughtUp(_ namespace: Namespace, upTo time: BSONDatetime) {
        guard !namespace.collection.hasBytePrefix("$cmd"),
            let name = Self.remembered(namespace.description)
        else { return }
        let known = caughtUp[name]?.milliseconds ?? .min
        caughtUp[name] = BSONDatetime(
            milliseconds: max(known, time.milliseconds - Self.commitMS))
        guard caughtUp.count > WriteReaders.collectionsMax,
            let oldest = caughtUp.min(by: { $0.value.milliseconds < $1.value.milliseconds })
        else { return }
        caughtUp[oldest.key] = nil
    }
}

extension ClientConnection {
    /// The client's metadata, if it is a device that syncs; `nil` for other clients.
    var device: BSONDocument? {
        guard let client = state.withLock({ $0.client }),
            client["driver"]?.documentValue?["name"]?.stringValue?.hasSameBytes(as: "StitchRemote")
                == true
        else { return nil }
        return client
    }
}
