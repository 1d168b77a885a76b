import BSONStore
import Testing

@testable import StitchSyncCommand

/// The demo's last line is a promise; it must not be made when it is not so.
@Suite struct DemoTests {
    private let documents = (0..<60).map {
        "{\"_id\": {\"n\": \($0)}, \"name\": \"n\($0)\", \"count\": \($0), \"tags\": [], \"x\": 1.5}"
    }

    @Test func `devices come in step, and any difference afterwards is found`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: documents + ["broken"], to: "in.jsonl")
            let demo = try await Tool.run("demo", "in.jsonl", "--work", "w", in: folder)
            #expect(demo.code == 0, "\(demo.complaints)")
            // 60 and the new ones of both, without those that both deleted.
            let count = 60 + 2 + 2 + 1 - 3
            #expect(
                demo.output.last
                    == "in step: \(count) documents on A, \(count) on B, \(count) at the remote")
            #expect(demo.output.contains("    60 documents, 1 line rejected"))
            let killed = demo.output.filter { $0.hasSuffix("the process is killed (SIGKILL)") }
            #expect(killed.count == 2)
            // Of 27 edits and 3 new documents all reach the remote before the answer is lost.
            let lost = demo.output.firstIndex {
                $0.hasPrefix("    at the remote: 30 changes")
            }
            #expect(
                lost.map { demo.output[$0 + 2] }
                    == "    0 sent, 0 taken, 0 conflicts settled in 1 pass")
            #expect(demo.output.contains("B resumes what is paused."))
            #expect(
                demo.complaints.contains("in.jsonl:61: rejected: not a JSON object"))

            let files = DemoFiles(folder: folder.path("w"))
            #expect(try StoreComparison(files).faults.isEmpty)
            try tamper(files.store(of: .b)) { $0["x"] = 2.5 }
            #expect(
                try StoreComparison(files).faults == ["{\"n\":7}: B and the remote: x differs"])
        }
    }

    #if Remote && Server
        @Test func `devices come in step through a server that is killed, too`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: documents, to: "in.jsonl")
                let demo = try await Tool.run(
                    "demo", "in.jsonl", "--work", "w", "--remote", "server", in: folder)
                #expect(demo.code == 0, "\(demo.complaints)")
                #expect(demo.output.last?.hasPrefix("in step: ") == true)
                #expect(demo.output.contains { $0.contains("server") && $0.contains("killed") })
                #expect(try StoreComparison(DemoFiles(folder: folder.path("w"))).faults.isEmpty)
            }
        }
    #endif

    #if MongoRemote && Server
        @Test func `devices come in step through gateways that are killed, too`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: documents, to: "in.jsonl")
                let demo = try await Tool.run(
                    "demo", "in.jsonl", "--work", "w", "--remote", "gateway", in: folder)
                #expect(demo.code == 0, "\(demo.complaints)")
                #expect(demo.output.last?.hasPrefix("in step: ") == true)
                #expect(demo.output.contains("The server and both gateways are killed."))
                #expect(try StoreComparison(DemoFiles(folder: folder.path("w"))).faults.isEmpty)
                // The users were the upstream's, not a gateway's.
                let store = try DocumentStore(
                    at: .file(folder.path("w/remote.stitch")), options: .init(readOnly: true))
                defer { store.close() }
                let users = try store.read { transaction in
                    try transaction.count(Namespace("stitchsync_gateway", "users"))
                }
                #expect(users == 2)
            }
        }
    #endif

    private func tamper(_ path: String, _ change: (inout BSONDocument) -> Void) throws {
        let store = try DocumentStore(at: .file(path))
        defer { store.close() }
        try store.write { transaction in
            transaction.isEngineWrite = true
            let id: BSONValue = ["n": 7]
            var document = try #require(try transaction.get(DemoFiles.namespace, id: id))
            change(&document)
            try transaction.put(DemoFiles.namespace, document)
        }
    }

    @Test func `an edit that is nowhere is lost, though all hold the same`() {
        let marked: BSONDocument = ["_id": 1, "demoEdits": ["a": .int64(0), "b": .int64(0)]]
        #expect(StoreComparison.lostEdits(of: marked, at: 0).isEmpty)
        #expect(
            StoreComparison.lostEdits(of: ["_id": 1, "demoEdits": ["a": .int64(0)]], at: 0)
                == ["the edit of B is lost"])
        #expect(StoreComparison.lostEdits(of: nil, at: 0) == ["it was edited and is gone"])
        #expect(StoreComparison.lostEdits(of: nil, at: 6).isEmpty)
        #expect(
            StoreComparison.lostEdits(of: ["_id": 1], at: 6)
                == ["both deleted it and it is there"])
    }

    /// None, one, those of an export from a synced collection, and names that paths cannot say.
    static let unusual: [[String]] = [
        [], ["{\"_id\": 1}"],
        [
            "{\"_id\": 1, \"__stitch_sync_version\": {\"spv\": 1, \"id\": \"x\", \"v\": 3}}",
            "{\"_id\": 2, \"__stitch_sync_version\": 5}",
        ],
        ["{\"_id\": 1, \"$set\": 1}", "{\"_id\": 2, \"a.b\": 1, \"\": {\"$x\": 2}}"],
    ]

    @Test(arguments: unusual)
    func `a demo of few and unusual documents ends as well`(_ lines: [String]) async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: lines, to: "in.jsonl")
            let demo = try await Tool.run("demo", "in.jsonl", in: folder)
            #expect(demo.code == 0, "\(demo.complaints)")
            #expect(demo.output.last?.hasPrefix("in step: ") == true)
        }
    }

    @Test func `a demo of a file that is not there fails`() async throws {
        try await withTemporaryFolder { folder in
            let demo = try await Tool.run("demo", "none.jsonl", in: folder)
            #expect(demo.code == 1)
            #expect(demo.complaints == ["Error: cannot read none.jsonl: No such file or directory"])
        }
    }
}
