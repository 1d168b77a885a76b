import BSONStore
import Foundation

/// Does in the process, on a file, what the rows do through a driver.
struct LocalStore {
    private let store: DocumentStore
    private let items: DocumentCollection<BSONDocument>
    private let folder: URL
    private static let pad = String(repeating: ".", count: 200)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "stitchbench-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // As the server opens it.
        store = try DocumentStore(
            at: .file(folder.appending(path: "local.stitch").path),
            options: .init(changeHistory: .keep(changesMax: 100_000)))
        items = store.collection(Namespace("bench", "items"))
        for start in stride(from: 0, to: 10_000, by: 1_000) {
            try items.insertMany((start..<(start + 1_000)).map { Self.document(Int32($0)) })
        }
        try items.createIndex(["n": 1])
    }

    private static func document(_ number: Int32) -> BSONDocument {
        [
            "_id": .int32(number), "n": .int32(number), "group": .int32(number % 100),
            "pad": .string(pad),
        ]
    }

    /// Does an operation so often; how long each took, in nanoseconds.
    func run(_ row: ServerRow, count: Int) throws -> [Double] {
        let clock = ContinuousClock()
        return try (0..<count).map { index in
            let place = Int32(index * 7_919 % 10_000)
            return try clock.measure { try once(row, place, index) } / .nanoseconds(1)
        }
    }

    private func once(_ row: ServerRow, _ place: Int32, _ index: Int) throws {
        let low = place % 9_900
        switch row {
        case .ping: break
        case .insert: try items.insertOne(Self.document(1_000_000 + Int32(index)))
        case .findByID: _ = try items.find(["_id": .int32(place)]).fetch()
        case .findIndexed:
            _ = try items.find(["n": ["$gte": .int32(low), "$lt": .int32(low + 10)]]).fetch()
        case .update:
            try items.updateOne(["_id": .int32(place)], ["$inc": ["group": 1]])
        case .aggregate:
            _ = try items.aggregate([
                ["$match": ["n": ["$lt": 1_000]]],
                ["$group": ["_id": "$group", "n": ["$sum": "$n"]]],
            ])
        case .count: _ = try items.find(["group": .int32(place % 100)]).count()
        case .insertMany:
            let first = 10_000_000 + Int32(index) * 500
            try items.insertMany((first..<first + 500).map(Self.document))
        case .cursor: _ = try items.find(["_id": ["$lt": 10_000]]).fetch()
        }
    }

    func end() throws {
        store.close()
        try FileManager.default.removeItem(at: folder)
    }
}
