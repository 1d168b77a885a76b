internal import BSONStore

extension ServerContext {
    /// Keeps what is known of the devices that are connected.
    func noteDevices() {
        for (client, connection, _) in clients where knows(connection) {
            if let seen = client.seenDevice { seenDevices.note(seen) }
        }
    }

    /// Keeps what is known of a device whose connection ends.
    func noteDevice(_ connection: ClientConnection) {
        guard knows(connection), let seen = ConnectedClient(connection).seenDevice else { return }
        seenDevices.note(seen)
    }

    /// Returns the devices: first those that are connected, each once, then those that were seen last.
    ///
    /// - Parameter asking: the connection that asks, which is left out if it is no named device.
    func devices(for asking: ClientConnection? = nil) -> [BSONDocument] {
        var order: [Name] = []
        var connected: [Name: BSONDocument] = [:]
        var ids: Set<Name> = []
        let kept = seenDevices.entries
        for (client, connection, isWaiting) in clients {
            guard let row = client.device(isWaiting: isWaiting) else { continue }
            if connection === asking, row["device"] == .null { continue }
            let key = Name(row["key"]?.stringValue ?? "")
            if let id = row["_id"]?.stringValue { ids.insert(Name(id)) }
            guard let other = connected[key] else {
                order.append(key)
                connected[key] = row
                continue
            }
            connected[key] = ConnectedClient.merged(other, row)
        }
        let rows: [BSONDocument] = order.compactMap { connected[$0] }
        let live = rows.map { row -> BSONDocument in
            var row = row.without(["key"])
            let entry = kept.first { $0["_id"] == row["_id"] }
            row.append("firstSeen", entry?["firstSeen"] ?? row["since"] ?? .null)
            let earlier = entry?["instances"]?.arrayValue.map(Array.init) ?? []
            let own = [row["instance"]].compactMap { $0 }
                .filter { $0 != .null && !earlier.contains($0) }
            row.append("instances", .array(BSONArray(earlier + own)))
            row.set("caughtUp", to: WriteReaders.merged(entry?["caughtUp"], row["caughtUp"]))
            row.set("backlog", to: WriteReaders.later(entry?["backlog"], row["backlog"]))
            return row
        }
        func lastSeen(_ entry: BSONDocument) -> Int64 {
            guard case .datetime(let date)? = entry["lastSeen"] else { return .min }
            return date.milliseconds
        }
        let gone = kept.filter { !ids.contains(Name($0["_id"]?.stringValue ?? "")) }
            .sorted { lastSeen($0) > lastSeen($1) }
            .map { entry -> BSONDocument in
                let address = entry["address"] ?? .null
                var row = entry.without(["owner", "address"])
                row.append("addresses", .array([address]))
                row.append("connections", [])
                row.append("connected", false)
                row.append("waiting", false)
                return row
            }
        return live + gone
    }
}

extension BSONDocument {
    fileprivate func without(_ names: [String]) -> BSONDocument {
        var rest = self
        for name in names { rest.removeValue(forKey: name) }
        return rest
    }
}

extension ConnectedClient {
    /// Returns two connections of one device as one row.
    static func merged(_ older: BSONDocument, _ newer: BSONDocument) -> BSONDocument {
        func milliseconds(_ value: BSONValue?) -> Int64 {
            guard case .datetime(let date)? = value else { return .min }
            return date.milliseconds
        }
        var row = older
        let isNewer = milliseconds(newer["lastSeen"]) >= milliseconds(older["lastSeen"])
        if isNewer {
            for name in ["lastSeen", "lastCommand"] { row.set(name, to: newer[name] ?? .null) }
        }
        if milliseconds(newer["since"]) < milliseconds(older["since"]) {
            row.set("since", to: newer["since"] ?? .null)
        }
        for name in ["addresses", "connections", "namespaces", "streams"] {
            let first = older[name]?.arrayValue.map(Array.init) ?? []
            let second = newer[name]?.arrayValue.map(Array.init) ?? []
            row.set(
                name, to: .array(BSONArray(first + second.filter { !first.contains($0) })))
        }
        row.set("caughtUp", to: WriteReaders.merged(older["caughtUp"], newer["caughtUp"]))
        row.set("backlog", to: WriteReaders.later(older["backlog"], newer["backlog"]))
        let commands = (older["commands"]?.int64Value ?? 0) + (newer["commands"]?.int64Value ?? 0)
        row.set("commands", to: .int64(commands))
        if newer["waiting"] == true { row.set("waiting", to: true) }
        return row
    }
}
