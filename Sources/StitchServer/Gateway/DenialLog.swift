internal import BSONStore

/// The denied writes of all gateways, in a collection of the upstream.
///
/// Entries are written in the background, some at a time. If too many wait, the oldest are dropped;
/// each is in the gateway's own log, too.
final class DenialLog: Sendable {
    private static let waitingMax = 1_000

    private let link: UpstreamLink
    private let waiting = Locked<[BSONDocument]>([])

    init(_ link: UpstreamLink) { self.link = link }

    /// Adds an entry.
    func add(_ entry: BSONDocument) {
        var entry = entry
        // The numbers of a gateway are not those of another.
        entry.set("_id", to: .objectID(BSONObjectID()))
        waiting.withLock { [entry] waiting in
            waiting.append(entry)
            if waiting.count > Self.waitingMax { waiting.removeFirst() }
        }
    }

    /// Writes the entries that wait.
    func flush() {
        let entries = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard !entries.isEmpty else { return }
        let written = Result {
            try link.run(
                [
                    "insert": .string(GatewayDatabase.denied.collection), "ordered": false,
                    "documents": .array(BSONArray(entries.map(BSONValue.document))),
                ], on: GatewayDatabase.name, repeatedAs: .write, for: nil)
        }
        guard written.value == nil else { return }
        waiting.withLock { waiting in
            waiting = Array((entries + waiting).suffix(Self.waitingMax))
        }
    }
}
