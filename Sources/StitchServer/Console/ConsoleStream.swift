internal import BSONStore

/// The events of a page that is kept up to date.
final class ConsoleStream: Sendable {
    /// What a page follows.
    enum Kind: Sendable {
        case stats
        case changes(database: String, collection: String?)

        /// Returns what a request follows; `nil` for another request.
        init?(_ request: ConsoleRequest) {
            guard request.method.hasSameBytes(as: "GET") else { return nil }
            switch request.path {
            case "/api/stats": self = .stats
            case "/api/changes":
                self = .changes(
                    database: request.query["database"] ?? "",
                    collection: request.query["collection"])
            default: return nil
            }
        }
    }

    let isOfChanges: Bool
    private let read: Locked<@Sendable () -> String?>

    init(isOfChanges: Bool, _ read: @escaping @Sendable () -> String?) {
        self.isOfChanges = isOfChanges
        self.read = Locked(read)
    }

    /// Returns the events since the last call in the form of server-sent events; `nil` at the end.
    func next() -> String? { read.withLock { $0 }() }

    /// Returns an event.
    static func event(_ name: String, _ json: String) -> String {
        "event: \(name)\ndata: \(json)\n\n"
    }
}

extension Console {
    /// Opens a stream of events.
    func stream(
        _ kind: ConsoleStream.Kind, _ request: ConsoleRequest
    ) -> Result<ConsoleStream, ConsoleFault> {
        do {
            try checkOrigin(request)
            guard device == nil else { throw ConsoleFault(404, "there is no such request") }
            guard let session = try self.session(request) else {
                throw ConsoleFault(401, "sign in first")
            }
            switch kind {
            case .stats:
                let stats = Locked(ConsoleStats(server, backend))
                return .success(
                    ConsoleStream(isOfChanges: false) { [self] in
                        guard isOpen(session) else { return nil }
                        return ConsoleStream.event(
                            "stats", stats.withLock { $0.next() }.extendedJSON(.relaxed))
                    })
            case .changes(let database, let collection):
                return .success(try changes(database, collection, session))
            }
        } catch let fault as ConsoleFault {
            return .failure(fault)
        } catch {
            return .failure(ConsoleFault(CommandFailure(error)))
        }
    }

    private func changes(
        _ database: String, _ collection: String?, _ session: ConsoleSession
    ) throws -> ConsoleStream {
        let opened = try run(
            [
                "aggregate": collection.map { .string($0) } ?? 1,
                "pipeline": [["$changeStream": [:]]], "cursor": [:],
            ], on: database, session)
        let cursor = opened["cursor"]?.documentValue
        guard let id = cursor?["id"], let namespace = cursor?["ns"]?.stringValue else {
            throw ConsoleFault(500, "the server opened no change stream")
        }
        let name = String(namespace.drop { $0 != "." }.dropFirst())
        return ConsoleStream(isOfChanges: true) { [self] in
            guard isOpen(session) else { return nil }
            do {
                let reply = try run(
                    ["getMore": id, "collection": .string(name), "maxTimeMS": 1], on: database,
                    session)
                let batch = reply["cursor"]?.documentValue?["nextBatch"]?.arrayValue ?? []
                return batch.compactMap(\.documentValue).map {
                    let event = DocumentExcerpt.shortened(event: $0, of: batch.count)
                    return ConsoleStream.event("change", event.extendedJSON(.canonical))
                }.joined()
            } catch {
                return nil
            }
        }
    }
}
