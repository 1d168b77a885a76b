internal import BSONStore

/// The replies to retryable writes, so that a command that comes again is not executed again.
///
/// A gateway remembers what each session did last, and asks the upstream about a number that is new to
/// it: the command may have been executed by another gateway.
final class ReplyLog: Sendable {
    /// What a session did last.
    struct Entry: Sendable {
        let number: Int64
        let reply: BSONDocument?
        /// Whether it was a committed transaction.
        var isTransaction = false
    }

    /// The number of sessions above which those are forgotten that were seen longest ago.
    private static let countMax = 20_000

    private struct State: Sendable {
        var entries: [[UInt8]: Entry] = [:]
        var order: [[UInt8]] = []
    }

    private let state = Locked(State())

    /// Returns what a session did last, as far as any gateway knows.
    ///
    /// - Parameter number: the number of the command that is to be executed now.
    func entry(
        of session: [UInt8], for number: Int64, _ link: UpstreamLink
    ) throws -> Entry? {
        if let known = state.withLock({ $0.entries[session] }), known.number >= number {
            return known
        }
        var query = UpstreamQuery(filter: ["_id": Self.id(session)], limit: 1)
        query.isSmall = true
        var stored: BSONDocument?
        try link.within(nil).find(GatewayDatabase.replies, query, for: nil) { stored = $0 }
        guard let stored, let number = stored["number"]?.int64Value else { return nil }
        return Entry(
            number: number, reply: stored["reply"]?.documentValue,
            isTransaction: stored["isTransaction"]?.isTrue ?? false)
    }

    /// Notes what a session did.
    ///
    /// - Parameter lasts: whether another gateway has to know it, because something changed.
    func note(
        _ entry: Entry, of session: [UInt8], lasts: Bool, _ link: UpstreamLink
    ) throws {
        if lasts {
            _ = try link.run(
                Self.command(entry, session), on: GatewayDatabase.name, .write, for: nil)
        }
        remember(entry, of: session)
    }

    /// Remembers what a session did, in this gateway.
    func remember(_ entry: Entry, of session: [UInt8]) {
        state.withLock { state in
            if state.entries.updateValue(entry, forKey: session) == nil {
                state.order.append(session)
            }
            guard state.order.count > Self.countMax else { return }
            for old in state.order.prefix(Self.countMax / 2) { state.entries[old] = nil }
            state.order.removeFirst(Self.countMax / 2)
        }
    }

    /// Returns the command that stores an entry.
    static func command(_ entry: Entry, _ session: [UInt8]) -> BSONDocument {
        var content: BSONDocument = ["number": .int64(entry.number), "at": .datetime(.now)]
        if let reply = entry.reply { content.append("reply", .document(reply)) }
        content.append("isTransaction", .bool(entry.isTransaction))
        return [
            "update": .string(GatewayDatabase.replies.collection),
            // Where a later one is there, the upsert meets it, and nothing is written.
            "updates": [
                [
                    "q": ["_id": id(session), "number": ["$lte": .int64(entry.number)]],
                    "u": .document(content), "upsert": true,
                ]
            ],
        ]
    }

    private static func id(_ session: [UInt8]) -> BSONValue { .binary(BSONBinary(session)) }
}
