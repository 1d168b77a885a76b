import BSONStore
import Testing

@testable import StitchServer

/// A stream leaves out what its device did itself, and nothing else.
@Suite(.timeLimit(.minutes(60))) struct EchoFilterTests {
    /// The option of a device's stream: the operation that the device named last.
    private static func after(_ number: UInt8) -> BSONDocument {
        ["stitchsyncLastOperation": operation(number)]
    }

    private static func operation(_ number: UInt8, of instance: UInt8 = 7) -> BSONValue {
        var bytes = [UInt8](repeating: 0, count: 16)
        (bytes[7], bytes[15]) = (instance, number)
        return .binary(BSONBinary(bytes))
    }

    private static func version(_ number: UInt8, of instance: UInt8 = 7) -> BSONValue {
        [
            "spv": 1, "id": "lineage", "v": .int64(Int64(number)),
            "op": operation(number, of: instance),
        ]
    }

    /// Has a device write a document.
    private static func write(
        _ root: ServerClient, _ id: BSONValue, n: Int32, _ number: UInt8, of instance: UInt8 = 7
    ) throws {
        try root.update(
            id,
            ["$set": ["n": .int32(n), "__stitch_sync_version": version(number, of: instance)]])
    }

    /// Returns the numbers that were written by what a stream tells, up to 99.
    private static func told(_ stream: ServerStream) throws -> [BSONValue] {
        var told: [BSONValue] = []
        while told.last != 99 {
            let event = try stream.next()
            let change = event["updateDescription"]?.documentValue?["updatedFields"]?.documentValue
            let n = (change ?? event["fullDocument"]?.documentValue)?["n"]
            told.append(n ?? event["operationType"] ?? .null)
        }
        return told
    }

    @Test(
        "Each later operation of the device is left out once",
        arguments: RuledWorld.Place.allCases)
    func once(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            let stream = try ServerStream(root, Self.after(5))
            try Self.write(root, "own", n: 10, 6)
            // The device had named it when it opened the stream.
            try Self.write(root, "own", n: 11, 5)
            try Self.write(root, "own", n: 12, 6, of: 8)
            // Batches arrive in any order.
            try Self.write(root, "other", n: 13, 9)
            try Self.write(root, "other", n: 14, 8)
            // Another writer leaves the version as it is.
            try root.update("other", ["$set": ["n": 15]])
            try Self.write(root, "fixed", n: 16, 7)
            // Restored from a backup.
            try Self.write(root, "other", n: 17, 9)
            try root.update("own", ["n": 18, "__stitch_sync_version": Self.version(8)])
            try root.insert(
                [["_id": "new", "n": 19, "__stitch_sync_version": Self.version(10)]],
                into: "items")
            try root.run(["delete": "items", "deletes": [["q": ["_id": "new"], "limit": 1]]])
            try root.insert(
                [["_id": "new", "n": 20, "__stitch_sync_version": Self.version(10)]],
                into: "items")
            try root.update("far", ["$set": ["n": 99]])
            #expect(try Self.told(stream) == [11, 12, 15, 17, 18, "delete", 20, 99])
        }
    }

    @Test(
        "What rules make of the device's own change is told",
        arguments: RuledWorld.Place.allCases)
    func underRules(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            let streams = try clients.bound.map { try ServerStream($0, Self.after(0)) }
            try Self.write(root, "own", n: 10, 1)
            // It leaves the users' view.
            try root.update(
                "other", ["$set": ["tenant": "b", "__stitch_sync_version": Self.version(2)]])
            // It comes into their view.
            try root.update(
                "far", ["$set": ["tenant": "a", "n": 11, "__stitch_sync_version": Self.version(3)]])
            try root.update("fixed", ["$set": ["n": 99]])
            let told = try streams.map(Self.told)
            #expect(told[0] == ["delete", 11, 99])
            // The clerk does not see what the device wrote into hidden fields.
            #expect(told[1] == [10, "delete", 11, 99])
        }
    }

    @Test("Of very many gaps between operations the first ones are forgotten, and told")
    func gaps() throws {
        var filter = try EchoFilter(Self.operation(0))
        func leavesOut(_ number: Int) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 16)
            (bytes[7], bytes[14], bytes[15]) = (7, UInt8(number >> 8), UInt8(number & 0xFF))
            return filter.leavesOut(EchoFilter.Operation(.binary(BSONBinary(bytes))))
        }
        let even = stride(from: 2, through: 4_000, by: 2)
        #expect(even.allSatisfy(leavesOut))
        // Each was left out, which counts even where the gaps around it are forgotten.
        #expect(!even.contains(where: leavesOut))
        let odd = stride(from: 1, through: 3_999, by: 2)
        #expect(odd.filter(leavesOut) == Array(odd.suffix(999)))
        #expect(leavesOut(4_001) && !leavesOut(4_001))
    }

    @Test("The option is an operation")
    func malformed() async throws {
        try await RuledClients.lend(.file) { clients in
            for value: BSONValue in [5, .binary(BSONBinary([1])), "operation"] {
                try expectRefusal(
                    14, by: clients.root,
                    [
                        "aggregate": "items",
                        "pipeline": [["$changeStream": ["stitchsyncLastOperation": value]]],
                        "cursor": [:],
                    ])
            }
        }
    }
}
