import BSONStore
import TestProcesses

/// A change stream of a client.
final class ServerStream {
    private let client: ServerClient
    private let collection: BSONValue
    private let id: BSONValue
    private var events: [BSONDocument] = []

    /// Opens a stream.
    ///
    /// - Parameter collection: the collection; `nil` for all of the client's database.
    init(_ client: ServerClient, on collection: String? = "items", _ options: BSONDocument) throws {
        self.client = client
        let target: BSONValue = collection.map { .string($0) } ?? 1
        let opened = try client.run([
            "aggregate": target, "pipeline": [["$changeStream": .document(options)]],
            "cursor": [:],
        ])
        self.collection = .string(collection ?? "$cmd.aggregate")
        let cursor = opened["cursor"]?.documentValue
        id = cursor?["id"] ?? .null
        events = cursor?["firstBatch"]?.arrayValue?.compactMap(\.documentValue) ?? []
    }

    /// Waits for the next event.
    func next() throws -> BSONDocument {
        if let event = try nextKnown(waitMS: 30_000) { return event }
        throw ProgramFailure(reason: "the stream has no event")
    }

    /// Returns the next event of what is committed; `nil` without one.
    func nextCommitted() throws -> BSONDocument? { try nextKnown(waitMS: 1) }

    private func nextKnown(waitMS: Int32) throws -> BSONDocument? {
        if events.isEmpty {
            let reply = try client.run([
                "getMore": id, "collection": collection, "maxTimeMS": .int32(waitMS),
            ])
            let batch = reply["cursor"]?.documentValue?["nextBatch"]?.arrayValue ?? []
            events = batch.compactMap(\.documentValue)
        }
        return events.isEmpty ? nil : events.removeFirst()
    }
}
