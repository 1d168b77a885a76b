import BSONStore
import Foundation
import StitchRules
import TestProcesses
import Testing

@testable import StitchServer

/// Who runs a server sees which writes rules deny, without seeing what was to be written.
@Suite struct DeniedWriteTests {
    private static func user(_ name: String, _ role: String, on database: String) -> SignedInUser {
        SignedInUser(
            name: Name(name), database: "admin", roles: [Role(name: role, database: database)],
            generation: 1)
    }

    /// A server on which nobody but root may write.
    private static func withServer(
        _ body: (OfflineServer, Locked<[String]>) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "denied-\(UUID())")
        let place = folder.appending(path: "data_sources/a/shop/items")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let role = #"{"name": "reader", "apply_when": {}, "read": true, "write": false}"#
        try Data(#"{"roles": [\#(role)]}"#.utf8).write(to: place.appending(path: "rules.json"))
        let lines = Locked<[String]>([])
        var settings = ServerSettings()
        settings.requiresSignIn = true
        settings.rules = try ReloadableRules(folder: folder.path)
        settings.log = ServerLog { level, line in
            if level == .info { lines.withLock { $0.append(line) } }
        }
        try body(OfflineServer(settings), lines)
        try removeFolder(atPath: folder.path)
    }

    @Test("A denied write is logged and can be read by who administrates, without its contents")
    func told() throws {
        try Self.withServer { server, lines in
            server.become(Self.user("ann", "readWrite", on: "shop"))
            let answer = server.answer(command: [
                "insert": "items", "documents": [["_id": 7, "secret": "word"]], "$db": "shop",
            ])
            #expect(answer?["writeErrors"] != nil)
            let said = lines.withLock { $0.filter { $0.contains("denied a write") } }
            #expect(said.count == 1)
            let line = said.first ?? ""
            #expect(line.contains("ann") && line.contains("shop.items"))
            #expect(line.contains("7") && !line.contains("word"))

            let find: BSONDocument = [
                "find": "denied", "filter": ["user": "ann"], "sort": ["_id": -1], "limit": 5,
                "$db": "stitchsync",
            ]
            // Neither who reads everything nor who was refused sees them.
            #expect(server.answer(command: find)?["code"] == 13)
            server.become(Self.user("bob", "readAnyDatabase", on: "admin"))
            #expect(server.answer(command: find)?["code"] == 13)
            for who in [
                Self.user("root", "root", on: "admin"),
                Self.user("op", "dbAdmin", on: "stitchsync"),
            ] {
                server.become(who)
                let reply = server.answer(command: find)
                let batch = reply?["cursor"]?.documentValue?["firstBatch"]?.arrayValue
                let entry = batch?.first { _ in true }?.documentValue
                #expect(batch?.underestimatedCount == 1 || entry != nil, "\(reply ?? [:])")
                #expect(entry?["collection"] == "shop.items" && entry?["documentID"] == 7)
                #expect(entry?["user"] == "ann" && entry?["secret"] == nil)
                let count = server.answer(command: [
                    "count": "denied", "query": ["user": "ann"], "$db": "stitchsync",
                ])
                #expect(count?["n"] == 1)
                let sum = server.answer(command: [
                    "aggregate": "denied", "pipeline": [["$count": "n"]], "cursor": [:],
                    "$db": "stitchsync",
                ])
                #expect(sum?["ok"] == 1.0, "\(sum ?? [:])")
            }
            server.become(Self.user("root", "root", on: "admin"))
            let write = server.answer(command: [
                "insert": "denied", "documents": [[:]], "$db": "stitchsync",
            ])
            #expect(write?["code"] == 166)
        }
    }

    @Test("Only so many are remembered, the last ones, and long ids are left out")
    func bounded() {
        let denials = DeniedWrites()
        for number in 1...(DeniedWrites.countMax + 10) {
            let id: BSONValue =
                number % 2 == 0
                ? .string(String(repeating: "x", count: 1_000)) : .int64(Int64(number))
            denials.note(
                RuleDenial(
                    cause: .insertDenied, role: nil, namespace: Namespace("shop", "items"),
                    documentID: id), of: String(repeating: "u", count: 10_000), .silent)
        }
        let entries = denials.entries
        #expect(entries.count == DeniedWrites.countMax)
        #expect(entries.first?["_id"] == .int64(11))
        #expect(entries.last?["_id"] == .int64(Int64(DeniedWrites.countMax + 10)))
        #expect(entries.allSatisfy { $0.byteCount < 1_000 })
        let withID = entries.filter { $0["documentID"]?.int64Value != nil }
        #expect(withID.count == DeniedWrites.countMax / 2)
    }

    @Test("Denied writes outlive the server, with the field that the role refused")
    func stored() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stored-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "denied.stitch").path
        let denial = RuleDenial(
            cause: .fieldsDenied(["price.net", "name"]), role: "clerk",
            namespace: Namespace("shop", "items"), documentID: 7)
        for run in 1...3 {
            let server = ServerContext(settings: ServerSettings())
            let backend = try StoreBackend(
                store: DocumentStore(at: .file(path)), server: server)
            #expect(server.deniedWrites.entries.count == run - 1)
            server.deniedWrites.note(denial, of: "ann", .silent)
            #expect(server.deniedWrites.count == 1)
            if run == 1 { try backend.tidy() }
            backend.close()
        }
        let store = try DocumentStore(at: .file(path))
        let entries = try StoredDenials(store).entries.all()
        #expect(entries.map { $0["_id"] } == [1, 2, 3].map { .int64($0) })
        #expect(entries.allSatisfy { $0["field"] == "price.net" && $0["role"] == "clerk" })
        // The collection is not one of the store.
        #expect(try store.read { try $0.collections() } == [])
        store.close()
        try removeFolder(atPath: folder.path)
    }

    @Test("The table keeps only the newest entries")
    func trimmed() throws {
        let store = try DocumentStore(at: .inMemory)
        let denials = try StoredDenials(store)
        for number in 1...(DeniedWrites.countMax + 5) {
            denials.add(["_id": .int64(Int64(number))])
            if number % 7_000 == 0 { try denials.flush() }
        }
        try denials.flush()
        let kept = try denials.entries.all()
        #expect(kept.count == DeniedWrites.countMax && kept.first?["_id"] == .int64(6))
        store.close()
    }
}
