import BSONStore
import Foundation
import StitchSync
import TestProcesses

/// The commands of the tool, by the time of its process.
enum ToolRoads {
    /// A command on a file of n documents; its argument `{n}` is n.
    private static func tool(
        _ name: String, _ growth: Road.Growth = .documents, from: Int? = nil, upTo: Int = 32_000,
        _ fill: @escaping (String, Int) async throws -> Void = fill,
        _ arguments: @escaping (String) -> [String]
    ) -> Road {
        // The process starts and ends, whatever n.
        Road(once: "tool: \(name)", growth, from: from ?? upTo / 8, upTo: upTo) { n in
            let (path, remove) = try Sample.file()
            try await fill(path, n)
            return Trip(end: remove) {
                let answer = try await Program.run(
                    Program.tool, arguments(path).map { $0 == "{n}" ? "\(n)" : $0 },
                    limit: .seconds(300))
                guard answer.code == 0 else {
                    throw SweptFailure("\(answer.code): \(answer.output.suffix(300))")
                }
            }
        }
    }

    private static func fill(_ path: String, _ count: Int) async throws {
        let store = try DocumentStore(
            at: .file(path), options: .init(changeHistory: .keep(changesMax: 100_000)))
        try await store.collection(Sample.namespace).insertMany(Sample.documents(count))
        store.close()
    }

    /// Makes a device's file in step with `remote.stitch` beside it.
    private static func sync(_ path: String, _ count: Int) async throws {
        try await fill(path + ".remote", count)
        let store = try DocumentStore(at: .file(path))
        let remote = try InProcessRemote(at: .file(path + ".remote"))
        let engine = try SyncEngine(store: store, remote: remote)
        let items = engine.collection(Sample.namespace)
        try await items.sync(ids: (0..<count).map { .int($0) })
        try await engine.syncUntilQuiet()
        try await items.updateMany(["half": 1], ["$set": ["x": 1]])
        await engine.close()
        store.close()
        remote.store.close()
    }

    /// The roads.
    static var all: [Road] {
        [
            tool("find") { ["find", $0, "app.items"] },
            tool("find with a sort") {
                ["find", $0, "app.items", "{\"half\": 1}", "--sort", "{\"shuffled\": 1}"]
            },
            tool("aggregate") {
                ["aggregate", $0, "app.items", "[{\"$group\": {\"_id\": \"$shuffled\"}}]"]
            },
            tool("explain") { ["explain", $0, "app.items", "{\"half\": 1}"] },
            tool("export") { ["export", $0, "app.items"] },
            tool("export as BSON") {
                ["export", $0, "app.items", "--bson", "--out", $0 + ".bson"]
            },
            tool("import", .documents) { path, n in
                let lines = Sample.documents(n).map { $0.extendedJSON() }
                try Data(lines.joined(separator: "\n").utf8)
                    .write(to: URL(filePath: path + ".jsonl"))
            } _: {
                ["import", $0, "app.items", $0 + ".jsonl"]
            },
            tool("import as BSON", .documents) { path, n in
                let bytes = Sample.documents(n).flatMap { $0.withUnsafeBytes { Array($0) } }
                try Data(bytes).write(to: URL(filePath: path + ".bson"))
            } _: {
                ["import", $0, "app.items", $0 + ".bson", "--bson"]
            },
            tool("verify") { ["verify", $0] },
            tool("compact") { ["compact", $0] },
            tool("watch", .events) { ["watch", $0, "--after", "0", "--limit", "{n}"] },
            tool("status", .documents, upTo: 16_000, sync) { ["status", $0] },
            tool("inspect", .documents, upTo: 16_000, sync) { ["inspect", $0, "--json"] },
            tool("diff", .documents, upTo: 16_000, sync) { ["diff", $0, "app.items", "1"] },
            tool("verify a device", .documents, upTo: 16_000, sync) { ["verify", $0] },
            tool("resume", .documents, upTo: 16_000, sync) { ["resume", $0, "app.items"] },
            tool("sync of pending changes", .changes, upTo: 8_000, sync) {
                ["sync", $0, "app.items", "--remote", $0 + ".remote"]
            },
            tool("sync of a new device", .documents, upTo: 8_000) { path, n in
                try await fill(path + ".remote", n)
            } _: {
                ["sync", $0, "app.items", "--remote", $0 + ".remote"]
            },
            tool("diff of a wide document", .fields, from: 500, upTo: 16_000) { path, n in
                let store = try DocumentStore(at: .file(path))
                let engine = try SyncEngine(
                    store: store, remote: try InProcessRemote(at: .inMemory))
                let items = engine.collection(Sample.namespace)
                try await items.insertOne(Sample.wide(n))
                try await engine.syncUntilQuiet()
                try await items.replaceOne(["_id": 1], Sample.wide(n) { .int(-$0) })
                await engine.close()
                store.close()
            } _: {
                ["diff", $0, "app.items", "1"]
            },
        ]
    }
}
