internal import BSONStore

/// The closing of the upstream's cursors that are not read any more, on a thread of its own.
///
/// A cursor may be forgotten within a lock, or by a thread that must not wait for the upstream.
final class UpstreamCursorCloser: Sendable {
    /// A cursor of the upstream.
    struct Cursor: Sendable {
        let id: Int64
        let namespace: Namespace
        let place: any UpstreamPlace
    }

    /// The cursors that one command can close.
    private struct Group: Hashable {
        let namespace: Namespace
        let server: UInt32
    }

    /// The largest number of cursors that wait; the upstream itself ends others after a while.
    private static let waitingMax = 100_000
    /// The largest number of cursors that one command closes.
    private static let batchMax = 1_000
    private static let timeMaxMS: Int32 = 5_000

    private let worker: CountedWorker<Cursor>

    init() {
        worker = CountedWorker(waitingMax: Self.waitingMax) { first, others in
            var cursors = [first]
            while cursors.count < Self.batchMax, let next = others.popFirst() {
                cursors.append(next)
            }
            Self.close(cursors)
            return cursors.count
        }
    }

    /// Closes a cursor soon; does not wait.
    func close(_ cursor: Cursor) { worker.add(cursor) }

    /// Accepts no more cursors, and waits until those that wait are closed, or the time is over.
    func finish(within limit: Duration) { worker.finish(within: limit) }

    private static func close(_ cursors: [Cursor]) {
        let groups = Dictionary(grouping: cursors) {
            Group(namespace: $0.namespace, server: $0.place.server)
        }
        for (group, cursors) in groups {
            let ids = cursors.map { BSONValue.int64($0.id) }
            let command: BSONDocument = [
                "killCursors": .string(group.namespace.collection),
                "cursors": .array(BSONArray(ids)), "maxTimeMS": .int32(timeMaxMS),
            ]
            // The upstream ends a forgotten cursor after a while.
            _ = Result { () throws(UpstreamFailure) in
                try cursors.first?.place.run(command, on: group.namespace.database, for: .own)
            }
        }
    }
}
