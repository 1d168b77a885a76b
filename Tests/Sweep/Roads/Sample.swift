import BSONStore
import Foundation

/// The documents and stores of the roads.
enum Sample {
    /// The collection of most roads.
    static let namespace = Namespace("app", "items")

    /// Returns a store in memory.
    static func store(history: Int? = nil) throws -> DocumentStore {
        try DocumentStore(
            at: .inMemory,
            options: .init(
                changeHistory: history.map { .keep(changesMax: $0) } ?? .off))
    }

    /// Returns a collection of a store in memory.
    static func collection(_ documents: [BSONDocument] = []) async throws -> DocumentCollection<
        BSONDocument
    > {
        let collection = try store().collection(namespace)
        if !documents.isEmpty { try await collection.insertMany(documents) }
        return collection
    }

    /// Returns documents of a few fields: `_id` and `n` count up, `group` has 10 values, `half` two.
    static func documents(_ count: Int) -> [BSONDocument] { (0..<count).map(document) }

    /// Returns one of those documents.
    static func document(_ number: Int) -> BSONDocument {
        [
            "_id": .int(number), "n": .int(number), "group": .int(number % 10),
            "half": .int(number % 2), "shuffled": .int(shuffled(number)),
            "text": .string("item \(number)"), "tags": ["a", "b"],
        ]
    }

    /// Returns another number, none twice.
    static func shuffled(_ number: Int) -> Int { number &* 7_919 % 1_000_003 }

    /// Returns the names of so many fields.
    static func names(_ count: Int) -> [String] { (0..<count).map { "f\($0)" } }

    /// Returns a document of so many fields.
    static func fields(
        _ count: Int, _ value: (Int) -> BSONValue = { .int($0) }
    ) -> BSONDocument {
        BSONDocument(names(count).enumerated().map { ($1, value($0)) })
    }

    /// Returns such a document with an `_id`.
    static func wide(_ count: Int, _ value: (Int) -> BSONValue = { .int($0) }) -> BSONDocument {
        var document: BSONDocument = ["_id": 1]
        for (number, name) in names(count).enumerated() { document.append(name, value(number)) }
        return document
    }

    /// Returns an array of so many values.
    static func array(_ count: Int, _ value: (Int) -> BSONValue = { .int($0) }) -> BSONValue {
        .array(BSONArray((0..<count).map(value)))
    }

    /// Returns a text of so many words.
    static func words(_ count: Int) -> String {
        (0..<count).map { "word\(shuffled($0))" }.joined(separator: " ")
    }

    /// Returns a polygon of so many corners around a point.
    static func polygon(_ corners: Int) -> BSONDocument {
        var ring = (0..<corners).map { corner -> BSONValue in
            let angle = 2 * Double.pi * Double(corner) / Double(corners)
            return [.double(10 * cos(angle)), .double(10 * sin(angle))]
        }
        ring.append(ring[0])
        return ["type": "Polygon", "coordinates": [.array(BSONArray(ring))]]
    }

    /// Lends the path of a file in a folder of its own to a trip, which removes it in the end.
    static func file(_ name: String = "road.stitch") throws -> (path: String, remove: () -> Void) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sweep-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return (
            folder.appending(path: name).path,
            { do { try FileManager.default.removeItem(at: folder) } catch {} }
        )
    }
}
