internal import BSONStore
internal import StitchRules

/// The database of the upstream in which gateways keep what must last and what they share.
enum GatewayDatabase {
    static let name = RuleAccessPolicy.gatewayDatabase
    /// The users, as `admin.system.users` of `serve` has them.
    static let users = Namespace(name, "users")
    /// The writes that rules denied.
    static let denied = Namespace(name, "denied")
    /// The conflicts that devices share.
    static let conflicts = Namespace(name, "conflicts")
    /// The replies to retryable writes, for a client that comes back to another gateway.
    static let replies = Namespace(name, "replies")
    /// The deletions that gateways saw.
    static let tombstones = Namespace(name, "tombstones")
    /// The secrets and numbers that all gateways share.
    static let state = Namespace(name, "state")

    /// How long replies are kept: longer than a session may be idle.
    private static let replySecondsMax: Int32 = 3_600
    /// How long denied writes are kept: 30 days.
    private static let denialSecondsMax: Int32 = 30 * 86_400
    /// How long deletions are remembered: 90 days, as by a store.
    private static let tombstoneSecondsMax: Int32 = 90 * 86_400

    /// Creates the indexes, where they are missing.
    ///
    /// - Throws: the upstream's errors.
    static func prepare(_ link: UpstreamLink) throws {
        try index(users, ["db": 1], nil, link)
        try index(users, ["userId": 1], nil, link)
        try index(replies, ["at": 1], replySecondsMax, link)
        try index(denied, ["time": 1], denialSecondsMax, link)
        try index(tombstones, ["time": 1], tombstoneSecondsMax, link)
    }

    private static func index(
        _ namespace: Namespace, _ key: BSONDocument, _ lifetime: Int32?, _ link: UpstreamLink
    ) throws {
        var specification: BSONDocument = [
            "key": .document(key), "name": .string("\(key.keys[0])_1"),
        ]
        if let lifetime { specification.append("expireAfterSeconds", .int32(lifetime)) }
        _ = try link.run(
            [
                "createIndexes": .string(namespace.collection),
                "indexes": [.document(specification)],
            ], on: name, repeatedAs: .read, for: nil)
    }

    /// Returns the secret of made-up credentials, which all gateways share; the first one makes it.
    static func secret(_ link: UpstreamLink) throws -> [UInt8] {
        let made = BSONValue.binary(BSONBinary(ScramCredential.random(32)))
        let reply = try link.run(
            [
                "findAndModify": .string(state.collection), "query": ["_id": "standIns"],
                "update": ["$setOnInsert": ["bytes": made]], "upsert": true, "new": true,
            ], on: name, repeatedAs: .write, for: nil)
        guard case .binary(let secret)? = reply["value"]?.documentValue?["bytes"] else {
            throw CommandFailure(
                .internalError, "\(state) has no bytes in its document \"standIns\"; remove it")
        }
        return secret.bytes
    }
}

/// The users in the upstream, and what changed about them.
final class UpstreamUserRecords: UserRecords {
    private let link: UpstreamLink
    /// A number that grows with every change that this gateway learns of.
    private let generation: Locked<Int64>
    /// The feeds of the users and of their custom data.
    private let feeds = Locked<[UpstreamFeed]>([])

    init(link: UpstreamLink) {
        self.link = link
        generation = Locked(1)
    }

    /// Follows the changes of users and of their custom data, by whatever program.
    ///
    /// - Throws: 290 when the system has no more threads.
    func watch(_ namespaces: [Namespace]) throws {
        let server = link.server
        let known = feeds.withLock { $0.map(\.scope) }
        for namespace in namespaces where !known.contains(.collection(namespace)) {
            noteChange()
            let feed = UpstreamFeed(.collection(namespace), link) { [generation] in
                generation.withLock { $0 += 1 }
                server.userGeneration.withLock { $0 += 1 }
            }
            try feed.start()
            feeds.withLock { $0.append(feed) }
        }
    }

    /// Notes a write through this gateway if it may have been of custom data: its client must see it
    /// before the feed reports it.
    func noteChange(by call: CommandCall, _ definition: CommandDefinition) {
        // The other writes name their collections in many ways.
        guard definition.traits.contains(.retryable) else { return noteChange() }
        let targets = Result { () throws(CommandFailure) in
            try definition.statements == .mixed
                ? BulkWriteCommand.namespaces(call)
                : [Namespace(call.database, call.target.stringValue ?? "")]
        }
        let followed = feeds.withLock { $0.compactMap(\.scope.namespace) }
        if targets.value?.contains(where: followed.contains) ?? true { noteChange() }
    }

    /// Has roles read again while changes elsewhere are unknown.
    func tidy() {
        if newestChange == nil { link.server.userGeneration.withLock { $0 += 1 } }
    }

    /// Notes that users or custom data may have changed.
    func noteChange() { generation.withLock { $0 += 1 } }

    /// Ends the feeds.
    func close() {
        for feed in feeds.withLock({ $0 }) { feed.stop() }
    }

    func user(_ id: String) throws -> BSONDocument? {
        try first(["_id": ["$eq": .string(id)]], in: GatewayDatabase.users)
    }

    func all() throws -> [BSONDocument] {
        var found: [BSONDocument] = []
        try link.find(GatewayDatabase.users, UpstreamQuery(), for: nil) { found.append($0) }
        return found
    }

    func hasAccount(_ id: BSONValue) throws -> Bool {
        try first(User.filter(ofAccount: id), in: GatewayDatabase.users) != nil
    }

    func isEmpty() throws -> Bool {
        try first(User.exists, in: GatewayDatabase.users) == nil
    }

    func customData(_ source: RuleSet.CustomData, of id: String) throws -> BSONDocument? {
        try first([source.userIDField: ["$eq": .string(id)]], in: source.namespace)
    }

    /// While a feed is interrupted, changes elsewhere are unknown.
    var newestChange: Int64? {
        let known = generation.withLock { $0 }
        return feeds.withLock({ $0 }).allSatisfy(\.isConnected) ? known : nil
    }

    private func first(_ filter: BSONDocument, in namespace: Namespace) throws -> BSONDocument? {
        var query = UpstreamQuery(filter: filter, limit: 1)
        query.isSmall = true
        var found: BSONDocument?
        try link.find(namespace, query, for: nil) { found = $0 }
        return found
    }
}

extension ServerCollection {
    /// The collection of a gateway's upstream that holds the documents.
    var upstream: Namespace {
        switch self {
        case .denied: GatewayDatabase.denied
        case .conflicts: GatewayDatabase.conflicts
        }
    }
}
