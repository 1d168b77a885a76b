import BSONStore
import Testing

@testable import StitchSync

/// Documents may exchange the values of a unique index, as a list does whose order is stored: the
/// exchange leaves the device, and it arrives, as a whole.
@Suite(.remotes)
struct ExchangeScenarios {
    /// Values of the kinds that an index may hold, among them a missing one.
    private static let values: [BSONValue?] = [
        "a", 1, .int64(2), .double(0.5), nil, true, .datetime(BSONDatetime(milliseconds: 7)),
        ["x": 1], .objectID(BSONObjectID()),
    ]

    private static func document(_ id: Int32, _ value: BSONValue?) -> BSONDocument {
        var document: BSONDocument = ["_id": .int32(id)]
        if let value { document["place"] = value }
        return document
    }

    private func shuffled(_ values: [BSONValue?], _ dice: inout Dice) -> [BSONValue?] {
        var values = values
        for index in values.indices.dropFirst() {
            values.swapAt(index, dice.below(index + 1))
        }
        return values
    }

    /// Makes the unique index here.
    private func makeUnique(_ device: Device) async throws {
        try await device.items.createIndex(["place": 1], ["unique": true])
    }

    private func put(
        _ device: Device, _ id: Int32, _ value: BSONValue?
    ) async throws {
        let update: BSONDocument =
            value.map { ["$set": ["place": $0]] } ?? ["$unset": ["place": ""]]
        try await device.items.updateOne(["_id": .int32(id)], update)
    }

    /// Two devices with as many documents, which have their places, and a unique index everywhere.
    private func devices(
        _ world: SyncWorld, _ places: [BSONValue?], limits: SyncLimits = SyncLimits(),
        handler: ConflictHandler<BSONDocument> = .remoteWins
    ) async throws -> (Device, Device) {
        let a = try await world.device("A", handler: handler, limits: limits)
        let b = try await world.device("B", limits: limits)
        for (id, value) in places.enumerated() {
            try await a.insert(Self.document(Int32(id), value))
        }
        try await a.engine.syncUntilQuiet()
        try world.remoteDocuments.makeUnique("place")
        try await makeUnique(a)
        try await makeUnique(b)
        try await b.items.sync(ids: places.indices.map { .int32(Int32($0)) })
        try await b.engine.syncUntilQuiet()
        return (a, b)
    }

    /// Exchanges the places 1 and 2 of two documents.
    private func exchange(_ device: Device) async throws {
        try await put(device, 0, 8)
        try await put(device, 1, 1)
        try await put(device, 0, 2)
    }

    private func expectPlaces(
        _ places: [BSONValue?], _ world: SyncWorld, _ devices: [Device]
    ) async throws {
        for (index, value) in places.enumerated() {
            let expected = Self.document(Int32(index), value)
            let id = BSONValue.int32(Int32(index))
            #expect(try world.remoteDocument(id) == expected)
            for device in devices { #expect(try await device.local(id) == expected) }
        }
        for device in devices {
            let status = try await device.items.status()
            #expect(status == SyncStatus(synced: places.count), "\(device.name)")
        }
    }

    @Test("random exchanges of two to five documents leave one device and arrive at another")
    func exchanges() async throws {
        var dice = Dice(seed: 49)
        for _ in 0..<4 {
            let world = try SyncWorld()
            let count = 2 + dice.below(4)
            var places = Array(shuffled(Self.values, &dice).prefix(count))
            let (a, b) = try await devices(world, places)
            for _ in 0..<2 {
                let former = places
                while places == former { places = shuffled(places, &dice) }
                // One by one, past a value that nobody has.
                for id in places.indices {
                    try await put(a, Int32(id), .string("moving \(id)"))
                }
                for (id, value) in places.enumerated() { try await put(a, Int32(id), value) }
                try await a.engine.syncUntilQuiet()
                try await b.engine.syncUntilQuiet()
                try await expectPlaces(places, world, [a, b])
            }
        }
    }

    @Test("an exchange across batches is sent and arrives, too")
    func acrossBatches() async throws {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.batchDocuments = 2
        limits.changesPerRead = 2
        let places: [BSONValue?] = [1, 2, 3, 4, 5]
        let (a, b) = try await devices(world, places, limits: limits)
        for id in 0..<5 as Range<Int32> { try await put(a, id, .int32(100 + id)) }
        // 0 and 2 exchange, as do 1 and 4; each pair is in two batches.
        let after: [BSONValue?] = [3, 5, 1, 4, 2]
        for (id, value) in after.enumerated() { try await put(a, Int32(id), value) }
        try await a.engine.syncUntilQuiet()
        try await b.engine.syncUntilQuiet()
        try await expectPlaces(after, world, [a, b])
    }

    @Test("a value that stays taken pauses its document alone, and an exchange beside it goes on")
    func staysTaken() async throws {
        let world = try SyncWorld()
        let (a, b) = try await devices(world, [1, 2, 3])
        try world.foreign(9) { $0["place"] = 9 }
        for id in 0..<3 as Range<Int32> { try await put(a, id, .int32(100 + id)) }
        for (id, value) in ([2, 1, 9] as [BSONValue]).enumerated() {
            try await put(a, Int32(id), value)
        }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.pausedIDs == [2])
        try await b.engine.syncUntilQuiet()
        #expect(try world.remoteDocument(0) == Self.document(0, 2))
        #expect(try world.remoteDocument(1) == Self.document(1, 1))
        #expect(try world.remoteDocument(2) == Self.document(2, 3))
        #expect(try await b.local(0) == Self.document(0, 2))
        #expect(try await b.local(1) == Self.document(1, 1))
    }

    @Test("a value that stays taken here pauses what wants it, and what wants the values of that")
    func staysTakenHere() async throws {
        let world = try SyncWorld()
        let (a, b) = try await devices(world, [1, 2, 3])
        // Only this device has it: the remote's index does not know.
        try await b.insertPastSync(["_id": 9, "place": 9])
        for (id, value) in ([2, 9, 4] as [BSONValue]).enumerated().reversed() {
            try await put(a, Int32(id), value)
        }
        try await a.engine.syncUntilQuiet()
        _ = try await b.engine.syncNow()
        #expect(try await b.items.pausedIDs == [0, 1])
        #expect(try await b.local(0) == Self.document(0, 1))
        #expect(try await b.local(1) == Self.document(1, 2))
        #expect(try await b.local(2) == Self.document(2, 4))
    }

    /// Documents that exchange values which only the remote's index takes for the same.
    struct CollatedExchange: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var keys: BSONDocument = ["name": 1]
        var options: BSONDocument = ["collation": ["locale": "en", "strength": 2]]
        var before: [BSONDocument] = [["name": "anna"], ["name": "ben"]]
        var after: [BSONDocument] = [["name": "Ben"], ["name": "Anna"]]

        static let all: [Self] = {
            var all = [
                Self(testDescription: "case"),
                Self(
                    testDescription: "rotation", before: ["a", "b", "c"].map { ["name": $0] },
                    after: ["B", "C", "A"].map { ["name": $0] }),
                Self(
                    testDescription: "dotted", keys: ["p.name": 1],
                    before: ["anna", "ben"].map { ["p": ["name": $0]] },
                    after: ["Ben", "Anna"].map { ["p": ["name": $0]] }),
                Self(
                    testDescription: "compound", keys: ["room": 1, "name": -1],
                    before: ["anna", "ben"].map { ["room": "a", "name": $0] },
                    after: ["Ben", "Anna"].map { ["room": "A", "name": $0] }),
                Self(
                    testDescription: "multikey", keys: ["names": 1],
                    before: [["names": ["anna", "ann"]], ["names": ["ben", "x"]]],
                    after: [["names": ["Ben", "new"]], ["names": ["x", "ANN", "Anna"]]]),
                Self(
                    testDescription: "marks",
                    options: ["collation": ["locale": "de", "strength": 1]],
                    after: [["name": "b\u{E9}n"], ["name": "\u{C4}nna"]]),
                Self(
                    testDescription: "punctuation",
                    options: [
                        "collation": ["locale": "en", "strength": 2, "alternate": "shifted"]
                    ],
                    after: [["name": "be-n"], ["name": "An na"]]),
                Self(
                    testDescription: "numbers",
                    options: ["collation": ["locale": "en", "numericOrdering": true]],
                    before: [["name": "a1"], ["name": "a2"]],
                    after: [["name": "a02"], ["name": "a01"]]),
            ]
            for (name, value) in [
                ("sparse", true), ("partialFilterExpression", ["name": ["$exists": true]]),
            ] as [(String, BSONValue)] {
                var exchange = Self(testDescription: name)
                exchange.options[name] = value
                all.append(exchange)
            }
            return all
        }()
    }

    @Test(
        "values that only the remote's index takes for the same are exchanged, too",
        arguments: CollatedExchange.all)
    func collated(_ exchange: CollatedExchange) async throws {
        let world = try SyncWorld()
        let (a, b) = (try await world.device("A"), try await world.device("B"))
        func document(_ index: Int, _ fields: BSONDocument) -> BSONDocument {
            var document: BSONDocument = ["_id": .int32(Int32(index))]
            for (name, value) in fields { document[name] = value }
            return document
        }
        for (index, fields) in exchange.before.enumerated() {
            try await a.insert(document(index, fields))
        }
        try await a.engine.syncUntilQuiet()
        try world.remoteDocuments.makeUnique(exchange.keys, exchange.options)
        try await b.items.sync(ids: exchange.before.indices.map { .int32(Int32($0)) })
        try await b.engine.syncUntilQuiet()
        for (index, fields) in exchange.after.enumerated() {
            try await a.set(.int32(Int32(index)), fields)
        }
        try await a.engine.syncUntilQuiet()
        try await b.engine.syncUntilQuiet()
        #expect(try await a.items.pausedIDs == [])
        for (index, fields) in exchange.after.enumerated() {
            let id = BSONValue.int32(Int32(index))
            #expect(try world.remoteDocument(id) == document(index, fields))
            #expect(try await b.local(id) == document(index, fields))
        }
    }

    @Test("a taken value that only looks like an exchanged one does not end the exchange")
    func lookAlike() async throws {
        let world = try SyncWorld()
        let (a, _) = try await devices(world, ["x", "y", "z"])
        try world.foreign(9) { $0["place"] = "X" }
        for id in 0..<3 as Range<Int32> { try await put(a, id, .int32(100 + id)) }
        for (id, value) in (["y", "x", "X"] as [BSONValue]).enumerated() {
            try await put(a, Int32(id), value)
        }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.pausedIDs == [2])
        #expect(try world.remoteDocument(0) == Self.document(0, "y"))
        #expect(try world.remoteDocument(1) == Self.document(1, "x"))
        #expect(try world.remoteDocument(2) == Self.document(2, "z"))
    }

    @Test("an exchange of which another client changed a part first is sent by a later pass")
    func overtaken() async throws {
        let world = try SyncWorld()
        let (a, b) = try await devices(world, [1, 2], handler: .localWins)
        try await exchange(a)
        let writes = Locked(0)
        world.remote.before { call in
            guard call.kind == .write else { return }
            let count = writes.withLock { writes in
                writes += 1
                return writes
            }
            guard count == 2 else { return }
            try world.foreign(0) { document in
                document["note"] = "foreign"
                var version = document[DocumentVersion.fieldName]?.documentValue ?? [:]
                version["v"] = .int64(80)
                document[DocumentVersion.fieldName] = .document(version)
            }
        }
        try await a.engine.syncUntilQuiet()
        #expect(writes.withLock { $0 } > 2)
        try await b.engine.syncUntilQuiet()
        try await expectPlaces([2, 1], world, [a, b])
    }

    @Test("the answer to an exchange gets lost: evidence shows that it was applied, once")
    func lostAnswer() async throws {
        let world = try SyncWorld()
        let (a, b) = try await devices(world, [1, 2])
        try await exchange(a)
        let isLost = Locked(false)
        world.remote.after { call in
            guard call.kind == .write, !isLost.withLock({ $0 }),
                try world.remoteDocument(0)?["place"] == 2
            else { return }
            isLost.withLock { $0 = true }
            throw RemoteError(.retryable, "the answer is lost")
        }
        _ = world.transcript()
        try await a.engine.syncUntilQuiet()
        #expect(isLost.withLock { $0 })
        try await a.engine.syncUntilQuiet()
        #expect(!world.transcript().contains { $0.contains("conflict") })
        try await b.engine.syncUntilQuiet()
        try await expectPlaces([2, 1], world, [a, b])
    }
}
