internal import BSONStore
internal import StitchRules

/// The last writes that rules denied, for operators, without the contents of the writes.
///
/// Clients read them as the virtual collection `stitchsync.denied`.
final class DeniedWrites: Sendable {
    /// The maximum number of kept entries.
    static let countMax = 10_000
    /// The namespace of the virtual collection.
    static let namespace = Namespace("stitchsync", "denied")
    /// The commands that can read it.
    private static let readers: Set<String> = ["aggregate", "count", "find"]
    /// The size limit in bytes: longer document ids are left out, longer names are cut.
    private static let bytesMax = 256

    private struct State: Sendable {
        var entries: [BSONDocument] = []
        var count = 0
    }

    private let state = Locked(State())

    /// Stores and logs a denied write.
    func note(_ denial: RuleDenial, of user: String, _ log: ServerLog) {
        let id = Self.short(denial.documentID)
        let name = BSONValue.string(String(user.unicodeScalars.prefix(Self.bytesMax)))
        let role = denial.role.map(BSONValue.string) ?? .null
        log.write(
            .info,
            "denied a write: user \(Self.text(name)), collection "
                + Self.text(.string(denial.namespace.description))
                + ", _id \(id.map(Self.text) ?? "(long)"), role \(Self.text(role)), "
                + "cause \(denial.cause.name)")
        state.withLock { state in
            state.count += 1
            var entry: BSONDocument = [
                "_id": .int64(Int64(state.count)), "time": .datetime(.now), "user": name,
                "collection": .string(denial.namespace.description),
            ]
            if let id { entry.append("documentID", id) }
            entry.append("role", role)
            entry.append("cause", .string(denial.cause.name))
            if state.entries.count < Self.countMax {
                state.entries.append(entry)
            } else {
                state.entries[(state.count - 1) % Self.countMax] = entry
            }
        }
    }

    /// The kept entries, oldest first.
    var entries: [BSONDocument] {
        state.withLock { state in
            guard state.entries.count == Self.countMax else { return state.entries }
            let first = state.count % Self.countMax
            return Array(state.entries[first...] + state.entries[..<first])
        }
    }

    private static func short(_ id: BSONValue) -> BSONValue? {
        let document: BSONDocument = ["_id": id]
        return document.byteCount <= bytesMax ? id : nil
    }

    /// Returns a value as text on one line, with control characters escaped.
    private static func text(_ value: BSONValue) -> String {
        if value == .null { return "none" }
        let document: BSONDocument = ["": value]
        return String(document.extendedJSON(.relaxed).dropFirst(4).dropLast())
    }
}

// MARK: - Reading

extension DeniedWrites {
    /// Whether a command names the virtual collection.
    static func isNamed(by call: CommandCall) -> Bool {
        guard call.database == namespace.database, let name = call.target.stringValue else {
            return false
        }
        return name == namespace.collection
    }

    /// Whether a command reads the denied writes, which needs an administrator of its database.
    static func isRead(by call: CommandCall) -> Bool {
        readers.contains(call.name) && isNamed(by: call)
    }

    /// Runs a command on the denied writes as a pipeline over them.
    ///
    /// - Throws: 166 (CommandNotSupportedOnView) for other commands than reads.
    func answer(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        guard Self.isRead(by: call) else {
            throw CommandFailure(
                166,
                "\(Self.namespace) is made up by the server of the writes that rules denied; it "
                    + "can be read by find, count and aggregate only")
        }
        var stages: [BSONValue] = [
            ["$documents": .array(BSONArray(entries.map(BSONValue.document)))]
        ]
        switch call.name {
        case "aggregate": stages += call.array("pipeline") ?? []
        case "count": stages += Self.stages(call, filter: "query") + [["$count": "n"]]
        default: stages += Self.stages(call, filter: "filter")
        }
        var body: BSONDocument = [
            "aggregate": 1, "pipeline": .array(BSONArray(stages)), "$db": .string(call.database),
            "cursor": .document(call.document("cursor") ?? Self.cursor(call)),
        ]
        for name in ["let", "collation", "explain"] {
            if let value = call[name] { body.append(name, value) }
        }
        var pipeline = call.standing(for: body, as: "aggregate", givenName: "aggregate")
        pipeline.parsed = .aggregate(
            ParsedAggregate(pipeline, pipeline.flag("explain") ? nil : store))
        guard call.name == "count" else { return try AggregateCommand.run(pipeline, store) }
        let found = try AggregateCommand.documents(pipeline, store).first?["n"]
        return .reply(["n": found ?? .int32(0)])
    }

    private static func cursor(_ call: CommandCall) -> BSONDocument {
        call["batchSize"].map { ["batchSize": $0] } ?? [:]
    }

    private static func stages(_ call: CommandCall, filter: String) -> [BSONValue] {
        var stages: [BSONValue] = []
        if let filter = call.document(filter) { stages.append(["$match": .document(filter)]) }
        if let sort = call.document("sort"), !sort.isEmpty {
            stages.append(["$sort": .document(sort)])
        }
        if let skip = call.number("skip"), skip > 0 {
            stages.append(["$skip": .int64(Int64(skip))])
        }
        let limit = Int64(clamping: call.number("limit")?.magnitude ?? 0)
        if limit > 0 { stages.append(["$limit": .int64(limit)]) }
        if let projection = call.document("projection"), !projection.isEmpty {
            stages.append(["$project": .document(projection)])
        }
        return stages
    }
}
