import BSONStore
import StitchSync

/// The answers to the pages of `inspect --serve`, read from the file for each request.
struct DeviceReader: Sendable {
    /// The open file.
    let store: DocumentStore
    /// The file as given on the command line, for the commands that texts name.
    let name: String

    /// The maximum number of steps of a document's story, the newest ones.
    private static let stepsMax = 500

    /// Returns what a page shows; `nil` for an unknown page.
    ///
    /// - Throws: the errors of the store, and those of an invalid query.
    func answer(_ page: String, _ query: [Name: String]) async throws -> BSONDocument? {
        let engine = try SyncEngine(lookingAt: store)
        switch page {
        case "overview": return try await overview(engine)
        case "conflicts":
            let conflicts = try engine.journaledConflicts().reversed()
            return list("conflicts", conflicts.map { ConflictComparison(conflict: $0).object })
        case "passes": return try passes(engine)
        case "story": return try await story(engine, query)
        default: return nil
        }
    }

    private func list(_ name: String, _ documents: [BSONDocument]) -> BSONDocument {
        [name: .array(BSONArray(documents.map { .document($0) }))]
    }

    private func passes(_ engine: SyncEngine) throws -> BSONDocument {
        var answer = list(
            "groups", try PassGroup.groups(of: engine.journaledPasses()).map(\.object))
        answer.append("isNeverSynced", .bool(try engine.syncedCollections().isEmpty))
        return answer
    }

    private func overview(_ engine: SyncEngine) async throws -> BSONDocument {
        let synced = try engine.syncedCollections()
        var namespaces = try store.read { try $0.collections() }
        namespaces += synced.filter { !namespaces.contains($0) }
        var reports: [CollectionReport] = []
        for namespace in namespaces {
            reports.append(try await CollectionReport(of: namespace, store, engine, at: name))
        }
        let collections = reports.map { report -> BSONDocument in
            let status = report.status
            let counts: [(String, Int)] = [
                ("documents", report.count), ("synced", status.synced),
                ("pending", status.pending), ("toFetch", status.toLook),
                ("paused", status.paused), ("rejected", status.rejected),
            ]
            var document: BSONDocument = ["collection": .string(report.namespace.description)]
            for (name, count) in counts { document.append(name, .int64(Int64(count))) }
            return document
        }
        var answer = list("collections", collections)
        answer.append(
            "remarks",
            .array(BSONArray(reports.flatMap(\.remarks).map { .document($0.object) })))
        answer.append("isNeverSynced", .bool(synced.isEmpty))
        answer.append("conflicts", .int64(Int64(try engine.journaledConflicts().count)))
        let groups = try PassGroup.groups(of: engine.journaledPasses()).prefix(PassGroup.latestMax)
        answer.append("groups", .array(BSONArray(groups.map { .document($0.object) })))
        return answer
    }

    /// Returns the story of one document's writes.
    private func story(
        _ engine: SyncEngine, _ query: [Name: String]
    ) async throws -> BSONDocument {
        guard let text = query["namespace"], let idText = query["id"] else {
            throw CommandError("name a collection and the _id of a document")
        }
        let parsed: BSONDocument
        do {
            parsed = try BSONDocument(extendedJSONBytes: Array(#"{"_id": \#(idText)}"#.utf8))
        } catch {
            throw CommandError("the _id is no Extended JSON: \(error)")
        }
        guard parsed.count == 1, let id = parsed["_id"] else {
            throw CommandError("the _id is no Extended JSON")
        }
        let namespace = try Namespace(parsing: text)
        let story = try await DocumentStory(
            of: [id], in: engine.collection(namespace), store: name, limit: Self.stepsMax)
        let document = try store.read { try $0.get(namespace, id: id) }
        let steps = (story?.entries ?? []).reversed().map { entry -> BSONValue in
            var object = entry.object
            object.set("at", to: .int64(entry.time.milliseconds))
            object.set("text", to: .string(EngineText.translated(entry.text)))
            return .document(object)
        }
        return [
            "steps": .array(BSONArray(steps)),
            "state": .string(story?.status.name ?? "notSynced"),
            "waitsFor": .string(story?.waitsFor ?? "this device does not sync the document"),
            "rejected": .array(
                BSONArray((story?.rejected ?? []).map { .document($0.object()) })),
            "document": document.map(BSONValue.document) ?? .null,
        ]
    }
}
