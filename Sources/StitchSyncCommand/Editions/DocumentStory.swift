import BSONStore
import StitchSync

/// What happened to one document on a device, and what it waits for.
struct DocumentStory: Sendable {
    let documentID: BSONValue
    let entries: [HistoryEntry]
    let status: DocumentSyncStatus
    /// The document's rejected writes that the store keeps.
    let rejected: [RejectedWrite<BSONDocument>]
    /// The document in commands.
    private let place: DocumentPlace

    /// Reads the story of the first id that has one; `nil` where none has.
    init?(
        of ids: [BSONValue], in collection: SyncCollection<BSONDocument>, store: String, limit: Int
    ) async throws {
        for id in ids {
            let entries = try await collection.history(of: id, limit: limit)
            let status = try await collection.status(of: id)
            guard !entries.isEmpty || status != .notSynced else { continue }
            documentID = id
            self.entries = entries
            self.status = status
            rejected = try await collection.rejectedWrites.all().filter { $0.documentID == id }
            place = DocumentPlace(store: store, namespace: collection.namespace, id: id)
            return
        }
        return nil
    }

    /// The story, a line for each step.
    var lines: [String] {
        entries.flatMap { ["\(EngineText.translated("\($0)"))"] + $0.fieldLines } + endLines
    }

    /// The last lines: the rejected writes, and what the document waits for.
    var endLines: [String] {
        rejected.map { write in
            "rejected write \(write.id): \(write.reason.printable): stitchsync retry "
                + "\(ShellWord(place.store)) \(write.id)"
        } + ["now \(status.name): \(waitsFor)"]
    }

    /// What the document waits for, with the command that helps.
    var waitsFor: String {
        switch status {
        case .synced: "waits for nothing"
        case .notSynced: "the engine does not sync it"
        case .pending: "the next pass uploads it"
        case .stale: "the next pass downloads it"
        case .conflicted:
            "the next pass resolves the conflict, if the collection has a conflict handler"
        case .paused(let reason):
            "\(EngineText.translated(reason.message)): \(place.resumptionWords)"
        case .unexplained: "missing at the remote: \(place.words("resolve")) --missing upload"
        }
    }

    /// The story as JSON objects, a step each, then the state.
    var objects: [BSONDocument] {
        entries.map(\.object) + [stateObject]
    }

    /// The state as a JSON object.
    var stateObject: BSONDocument {
        ["_id": documentID, "state": .string(status.name), "waitsFor": .string(waitsFor)]
    }
}

extension HistoryEntry {
    /// The time, the side and the event, and the fields of a conflict below.
    func lines(of side: String) -> [String] {
        ["\(time.text) \(side): \(EngineText.translated(text))"] + fieldLines
    }

    /// The fields of a conflict, a line each.
    fileprivate var fieldLines: [String] {
        guard case .resolved(_, let fields) = event else { return [] }
        return fields.map { field in
            func text(_ value: BSONValue?) -> String { value?.extendedJSON(.relaxed) ?? "absent" }
            return "    \(field.name): base \(text(field.base)), local \(text(field.local)), "
                + "remote \(text(field.remote)), result \(text(field.result))"
        }
    }

    /// The step as a JSON object.
    var object: BSONDocument {
        var object: BSONDocument = [
            "number": .int64(number), "at": .datetime(time), "text": .string(text),
        ]
        if let operation { object.append("operation", .string("\(operation)")) }
        for (key, version) in [("before", versionBefore), ("after", versionAfter)] {
            guard let version else { continue }
            var value: BSONDocument = ["v": .int64(version.counter)]
            if let operation = version.operation { value.append("op", .string("\(operation)")) }
            object.append(key, .document(value))
        }
        if case .resolved(_, let fields) = event {
            object.append("fields", .array(BSONArray(fields.map { .document($0.object) })))
        }
        return object
    }
}

extension HistoryField {
    fileprivate var object: BSONDocument {
        var object: BSONDocument = ["name": .string(name)]
        for (key, value) in [
            ("base", base), ("local", local), ("remote", remote), ("result", result),
        ] {
            if let value { object.append(key, value) }
        }
        return object
    }
}
