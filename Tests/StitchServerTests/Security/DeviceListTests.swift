import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// Operators must see each device once, also after it left and after a restart.
@Suite(.timeLimit(.minutes(5))) struct DeviceListTests {
    private static func hello(
        _ device: String, _ instance: String, _ numbers: BSONDocument = [:]
    ) -> BSONDocument {
        var own: BSONDocument = [
            "appVersion": "2.1", "device": .string(device), "instance": .string(instance),
        ]
        for (name, number) in numbers { own.append(name, number) }
        return [
            "hello": 1,
            "client": [
                "application": ["name": "Notes"],
                "driver": ["name": "StitchRemote", "version": "0.1.0"], "os": ["type": "Linux"],
                "stitchsync": .document(own),
            ],
        ]
    }

    private static let request: BSONDocument = [
        "currentOp": 1, "comment": ["stitchsyncDevices": true],
    ]

    private static func devices(_ client: ServerClient) throws -> [BSONDocument] {
        let reply = try client.run(Self.request, on: "admin")
        return (reply["devices"]?.arrayValue ?? []).compactMap(\.documentValue)
    }

    @Test(
        "The connections of a device are one row, at a server and at a gateway",
        arguments: RuledWorld.Place.allCases)
    func rows(place: RuledWorld.Place) async throws {
        try await RuledWorld.lend(place) { ports in
            let root = try RuledWorld.prepare(ports[0])
            var clients: [ServerClient] = []
            for (device, instance) in [("a", "1"), ("a", "1"), ("b", "2"), ("a", "3")] {
                let client = try ServerClient(port: ports[0], database: "shop")
                try client.run(Self.hello(device, instance))
                try client.signIn("ann", "pw", of: "admin")
                _ = try client.documents(["find": "items"])
                clients.append(client)
            }
            // No collection has such a name, and the list does not keep it.
            _ = try clients[0].reply(["find": .string(String(repeating: "x", count: 300))])
            let found = try Self.devices(root)
            // A copy of a file is a device of its own, although it has the same name.
            #expect(found.map { $0["device"] } == ["a", "b", "a"])
            #expect(found.map { $0["connections"]?.arrayValue?.count } == [2, 1, 1])
            let first = found.first ?? [:]
            #expect(first["user"] == "ann" && first["database"] == "admin")
            #expect(first["app"] == "Notes" && first["appVersion"] == "2.1")
            #expect(first["connected"] == true && first["namespaces"] == ["shop.items"])
            #expect(first["addresses"]?.arrayValue?.count == 2)
            // Without the option MongoDB's reply has no such field.
            #expect(try root.run(["currentOp": 1], on: "admin")["devices"] == nil)
            #expect(clients.count == 4)
        }
    }

    @Test(
        "A device has seen a change when it asks for the next one",
        arguments: RuledWorld.Place.allCases)
    func seen(place: RuledWorld.Place) async throws {
        try await RuledWorld.lend(place) { ports in
            let root = try RuledWorld.prepare(ports[0])
            let items = Namespace("shop", "items")
            let device = try ServerClient(port: ports[0], database: "shop")
            try device.run(Self.hello("a", "1"))
            try device.signIn("ann", "pw", of: "admin")
            let opened = try device.run([
                "aggregate": "items", "pipeline": [["$changeStream": [:]]], "cursor": [:],
            ])
            // An engine opens the stream on one connection, and waits on the other.
            let waiting = try ServerClient(port: ports[0], database: "shop")
            try waiting.run(Self.hello("a", "1"))
            try waiting.signIn("ann", "pw", of: "admin")
            let cursor = opened["cursor"]?.documentValue?["id"] ?? .null
            func readers(since time: Int64) throws -> [BSONDocument] {
                WriteReaders.readers(try Self.devices(root), of: items, since: time)
            }
            // Before it has asked for all there is, nothing is known.
            #expect(try readers(since: 0).isEmpty)
            let written = BSONDatetime.now.milliseconds
            let update: BSONValue = ["q": ["_id": 1], "u": ["$inc": ["n": 1]]]
            try root.run(["update": "items", "updates": [update]])
            var hasSeen = false
            while !hasSeen {
                try waiting.run(["getMore": cursor, "collection": "items", "maxTimeMS": 100])
                let found = try readers(since: written)
                hasSeen = found.first?["hasSeen"] == true
                #expect(found.count <= 1)
            }
            #expect(try readers(since: .max).first?["hasSeen"] == false)
            #expect(
                WriteReaders.readers(
                    try Self.devices(root), of: Namespace("shop", "other"), since: 0
                ).isEmpty)
        }
    }

    @Test("At a gateway whose upstream is silent, no device has seen what was written since")
    func silentUpstream() async throws {
        try await GatewayProcesses.run(1) { world in
            let (port, upstream) = (world.ports[0], world.upstream.processID)
            try await BlockingThread.run {
                let root = try ServerClient(port: port, database: "shop")
                try root.insert([["_id": 1]], into: "items")
                let device = try ServerClient(port: port, database: "shop")
                try device.run(Self.hello("a", "1"))
                let opened = try device.run([
                    "aggregate": "items", "pipeline": [["$changeStream": [:]]], "cursor": [:],
                ])
                let cursor = opened["cursor"]?.documentValue?["id"] ?? .null
                func hasSeen(_ time: Int64) throws -> Bool {
                    try device.run(["getMore": cursor, "collection": "items", "maxTimeMS": 100])
                    let readers = WriteReaders.readers(
                        try Self.devices(root), of: Namespace("shop", "items"), since: time)
                    return readers.first?["hasSeen"] == true
                }
                let start = BSONDatetime.now.milliseconds
                while try !hasSeen(start) {}
                kill(upstream, SIGSTOP)
                defer { kill(upstream, SIGCONT) }
                let stopped = BSONDatetime.now.milliseconds
                for _ in 1...25 { #expect(try !hasSeen(stopped)) }
            }
        }
    }

    @Test("A connection that does not tell what waits on its device leaves what is known")
    func unknownBacklog() async throws {
        try await ServerProcess.run { server in
            try await BlockingThread.run { [port = server.port] in
                let root = try ServerClient(port: port, database: "shop")
                func pending() throws -> Int64? {
                    try Self.devices(root).first { $0["device"] == "a" }?["backlog"]?
                        .documentValue?["pending"]?.int64Value
                }
                func connect(_ numbers: BSONDocument = [:]) throws -> ServerClient {
                    let client = try ServerClient(port: port, database: "shop")
                    try client.run(Self.hello("a", "1", numbers))
                    return client
                }
                var first: ServerClient? = try connect(["pending": 0, "paused": 0, "rejected": 0])
                #expect(try pending() == 0)
                try first?.run(["stitchsyncReportBacklog": 1, "pending": 5], on: "admin")
                try first?.run(["stitchsyncReportBacklog": 1], on: "admin")
                #expect(try pending() == 5)
                let second = try connect()
                #expect(try pending() == 5)
                first = nil
                // The server keeps what it knows of a device whose connection ends.
                while try Self.devices(root).first?["connections"]?.arrayValue?.count != 1 {}
                #expect(try pending() == 5)
                let third = try connect(["pending": 2])
                #expect(try pending() == 2)
                withExtendedLifetime((second, third)) {}
            }
        }
    }

    @Test("A device that left stays listed, also after a restart")
    func gone() async throws {
        let server = try ServerProcess.start()
        defer { server.remove() }
        try await BlockingThread.run { [port = server.port] in
            let device = try ServerClient(port: port, database: "shop")
            try device.run(Self.hello("a", "1"))
            _ = try device.documents(["find": "items"])
        }
        try server.restart(SIGTERM)
        let found = try await BlockingThread.run { [port = server.port] in
            try Self.devices(ServerClient(port: port, database: "shop"))
        }
        #expect(found.count == 1)
        let row = found.first ?? [:]
        #expect(row["device"] == "a" && row["connected"] == false)
        #expect(row["instances"] == ["1"] && row["namespaces"] == ["shop.items"])
        #expect(row["connections"] == [] && row["app"] == "Notes")
    }

    @Test("A device that follows many collections has seen what it has of each")
    func manyCollections() {
        var state = ClientConnection.State(lastUsed: .now)
        func note(_ name: String) { state.noteCaughtUp(Namespace("shop", name), upTo: .now) }
        for number in 1...20 { note("c\(number)") }
        #expect(state.caughtUp.count == 20)
        for number in 21...100 { note("c\(number)") }
        note(String(repeating: "x", count: 300))
        #expect(state.caughtUp.count == WriteReaders.collectionsMax)
        #expect(!state.caughtUp.keys.contains { $0.text.utf8.count > 255 })
    }

    @Test("Of users with equally many devices the one seen least recently is forgotten")
    func oldest() {
        let devices = SeenDevices()
        for number in 0...SeenDevices.countMax {
            let owner = number == SeenDevices.countMax ? "new" : "user\(number % 10)"
            devices.note([
                "_id": .string("\(number) \(owner)"), "owner": .string(owner),
                "lastSeen": .datetime(BSONDatetime(milliseconds: Int64(number))),
            ])
        }
        #expect(devices.entries.count == SeenDevices.countMax)
        #expect(!devices.entries.contains { $0["_id"] == "0 user0" })
    }

    @Test("No user replaces the devices of others, and what is forgotten is removed from the file")
    func bound() throws {
        let store = try DocumentStore(at: .inMemory)
        let stored = try StoredDevices(store)
        let devices = SeenDevices()
        func seen(_ owner: String, _ number: Int) -> BSONDocument {
            [
                "_id": .string("\(number) \(owner)"), "owner": .string(owner),
                "lastSeen": .datetime(BSONDatetime(milliseconds: Int64(number))),
                "instances": [.string("\(number)")], "namespaces": [],
            ]
        }
        devices.note(seen("ben", 0))
        try stored.flush(devices)
        for number in 1...(SeenDevices.countMax + 10) { devices.note(seen("eve", number)) }
        try stored.flush(devices)
        #expect(devices.entries.count == SeenDevices.countMax)
        #expect(devices.entries.contains { $0["owner"] == "ben" })
        let loaded = SeenDevices()
        loaded.load(try stored.entries.all())
        #expect(loaded.entries.count == SeenDevices.countMax)
        #expect(!loaded.entries.contains { $0["_id"] == "1 eve" })
        // What comes again keeps when it came first, and its instances.
        var again = seen("ben", 0)
        again.set("instances", to: ["9"])
        devices.note(again)
        let ben = devices.entries.first { $0["owner"] == "ben" } ?? [:]
        #expect(ben["instances"] == ["0", "9"])
    }
}
