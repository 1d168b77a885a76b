internal import BSONStore
internal import StitchWire

/// The slowest commands since the start, for the console.
final class SlowCommands: Sendable {
    /// The maximum number of kept commands.
    static let countMax = 50
    /// The shortest time of a kept command.
    static let least: Duration = .milliseconds(1)
    /// The maximum number of a filter's fields that are kept.
    private static let fieldsMax = 8

    /// The arguments that list the statements of a write.
    private static let statementLists = ["updates", "deletes"]

    private struct Entry: Sendable {
        let took: Duration
        let document: BSONDocument
    }

    /// The kept commands, the slowest first.
    private let entries = Locked<[Entry]>([])

    /// Keeps a finished command if it is among the slowest, without the values in it.
    func note(_ request: WireRequest, took: Duration, _ connection: ClientConnection) {
        guard took >= Self.least, isAmongSlowest(took) else { return }
        let entry = Entry(took: took, document: Self.document(request, took, connection))
        entries.withLock { entries in
            let place = entries.firstIndex { $0.took < took } ?? entries.count
            entries.insert(entry, at: place)
            if entries.count > Self.countMax { entries.removeLast() }
        }
    }

    /// The kept commands, the slowest first.
    var all: [BSONDocument] { entries.withLock { $0.map(\.document) } }

    private func isAmongSlowest(_ took: Duration) -> Bool {
        entries.withLock { entries in
            guard entries.count >= Self.countMax, let last = entries.last else { return true }
            return last.took < took
        }
    }

    private static func document(
        _ request: WireRequest, _ took: Duration, _ connection: ClientConnection
    ) -> BSONDocument {
        let body = request.body
        let name = body.keys.first ?? ""
        let collection = body["collection"]?.stringValue ?? body[name]?.stringValue ?? "$cmd"
        let state = connection.state.withLock { $0 }
        return [
            "time": .int64(BSONDatetime.now.milliseconds),
            "microseconds": .int64(Int64(took / .microseconds(1))),
            "command": .string(name),
            "namespace": .string("\(body["$db"]?.stringValue ?? "").\(collection)"),
            "fields": .array(BSONArray(fields(of: request).map { .string($0) })),
            "user": state.user.map { .string($0.name.text) } ?? .null,
            "app": state.applicationName.map { .string($0) } ?? .null,
            "client": .string(connection.peer),
        ]
    }

    /// Returns the names of a filter's fields.
    private static func fields(of request: WireRequest) -> [String] {
        let body = request.body
        let stage = first(body["pipeline"])?["$match"]
        // Drivers send the statements of a write as a sequence beside the body.
        let sequence = request.sequences.first { statementLists.contains($0.field) }
        let statement =
            (sequence?.documents.first ?? first(body["updates"] ?? body["deletes"]))?["q"]
        let filter = body["filter"] ?? body["query"] ?? stage ?? statement
        return Array((filter?.documentValue ?? [:]).keys.prefix(fieldsMax))
    }

    private static func first(_ list: BSONValue?) -> BSONDocument? {
        (list?.arrayValue ?? []).lazy.compactMap(\.documentValue).first
    }
}
