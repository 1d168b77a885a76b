internal import BSONStore

// What the console's pages show.
extension Console {
    /// Returns the devices: those that are connected, and those that were seen last.
    func devices() -> ConsoleAnswer {
        let devices = server.devices().map { device -> BSONValue in
            var row = device
            row.removeValue(forKey: "caughtUp")
            for name in ["since", "firstSeen", "lastSeen"] {
                guard case .datetime(let date)? = row[name] else { continue }
                row.set(name, to: .int64(date.milliseconds))
            }
            return .document(row)
        }
        return .json(["devices": .array(BSONArray(devices))])
    }

    /// Returns the slowest commands since the start.
    func slow() -> ConsoleAnswer {
        .canonical("slow", server.slowCommands.all)
    }

    /// Returns the denied writes, the newest first.
    func denied(_ session: ConsoleSession) throws -> [BSONDocument] {
        let place = DeniedWrites.namespace
        let reply = try run(
            [
                "find": .string(place.collection), "sort": ["time": -1], "limit": 500,
                "singleBatch": true, "batchSize": 500,
            ], on: place.database, session)
        let found = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
        return found.compactMap(\.documentValue).map(Self.denial)
    }

    /// Returns the story of a document's writes, with a large document cut.
    func write(_ request: ConsoleRequest, _ session: ConsoleSession) throws -> ConsoleAnswer {
        guard let text = request.query["namespace"], let idText = request.query["id"] else {
            throw ConsoleFault(400, "name a namespace and the _id of a document")
        }
        let named: BSONDocument
        do throws(BSONError) {
            named = try BSONDocument(extendedJSONBytes: Array(#"{"_id": \#(idText)}"#.utf8))
        } catch {
            throw ConsoleFault(400, "the _id is no Extended JSON: \(error)")
        }
        guard named.count == 1, let id = named["_id"] else {
            throw ConsoleFault(400, "the _id is no Extended JSON")
        }
        let history = WriteHistory(of: id, in: try Namespace(parsing: text)) { command, database in
            try self.reply(to: command, on: database, session)
        }
        do {
            var story = DocumentExcerpt.shortened(story: try history.document())
            let devices = server.devices()
            story.append("devices", .array(BSONArray(authors(of: story, among: devices))))
            let times = (story["changes"]?.arrayValue ?? [])
                .compactMap { $0.documentValue?["time"]?.int64Value }
            if let newest = times.max() {
                let readers = WriteReaders.readers(
                    devices, of: try Namespace(parsing: text), since: newest)
                story.append("readers", .array(BSONArray(readers.map { .document($0) })))
            }
            return .json(story.extendedJSON(.canonical))
        } catch let refusal as WriteHistory.Refusal {
            throw ConsoleFault(CommandFailure(refusal.code, refusal.description))
        }
    }

    /// Returns the known devices that made changes of a story, with the instances that name them.
    private func authors(of story: BSONDocument, among devices: [BSONDocument]) -> [BSONValue] {
        let changes = (story["changes"]?.arrayValue ?? []).compactMap(\.documentValue)
        let names = Set(
            changes.compactMap { change -> String? in
                guard case .binary(let operation)? = change["version"]?.documentValue?["op"],
                    operation.bytes.count == 16
                else { return nil }
                let instance = operation.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                return String(instance, radix: 16)
            })
        guard !names.isEmpty else { return [] }
        return devices.compactMap { device in
            let instances = (device["instances"]?.arrayValue ?? [])
                .filter { names.contains($0.stringValue ?? "") }
            guard !instances.isEmpty else { return nil }
            return .document([
                "instances": .array(BSONArray(instances)), "device": device["device"] ?? .null,
                "user": device["user"] ?? .null, "app": device["app"] ?? .null,
                "appVersion": device["appVersion"] ?? .null,
            ])
        }
    }

    /// Returns what is shown of a denied write.
    static func denial(_ entry: BSONDocument) -> BSONDocument {
        var time = BSONValue.null
        if case .datetime(let date)? = entry["time"] { time = .int64(date.milliseconds) }
        let (user, database) = owner(entry["user"]?.stringValue ?? "")
        let field = entry["field"] ?? .null
        let collection = entry["collection"]?.stringValue ?? ""
        let cause = entry["cause"]?.stringValue ?? ""
        let reason = field.stringValue.map { "\(cause) (\($0))" } ?? cause
        return [
            "time": time, "user": .string(user), "database": .string(database),
            "namespace": .string(collection), "documentID": entry["documentID"] ?? .null,
            // An entry without an `_id` is of one that is too long to keep.
            "hasLongID": .bool(entry["documentID"] == nil),
            "role": entry["role"] ?? .null, "cause": .string(cause), "field": field,
            "message": .string("write to \(collection) was denied by \(reason)"),
        ]
    }

    /// Returns the name and the database of a user whom rules know by an id.
    private static func owner(_ id: String) -> (name: String, database: String) {
        guard id.hasBytePrefix(User.idMark) else { return (id, "admin") }
        let rest = id.dropFirst(User.idMark.count)
        guard rest.contains(".") else { return (id, "admin") }
        let database = rest.prefix { $0 != "." }
        return (String(rest.dropFirst(database.count + 1)), String(database))
    }
}

extension ConsoleAnswer {
    /// An object with one list, as canonical Extended JSON.
    static func canonical(_ name: String, _ documents: [BSONDocument]) -> ConsoleAnswer {
        let list: BSONDocument = [
            name: .array(BSONArray(documents.map { .document($0) }))
        ]
        return .json(list.extendedJSON(.canonical))
    }
}
