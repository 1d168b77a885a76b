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
        /// Whether it was a transaction.
        var isTransaction = false
        /// Whether that transaction can no longer be committed.
        var isAborted = false

        /// Whether it tells that a transaction was committed.
        func commits(_ number: Int64) -> Bool {
            self.number == number && isTransaction && !isAborted
        }
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
    /// - Parameters:
    ///   - number: the number of the command that is to be executed now.
    ///   - isNewest: whether an entry that was written just now must be seen.
    func entry(
        of session: [UInt8], for number: Int64, isNewest: Bool = false, _ link: UpstreamLink
    ) throws -> Entry? {
        if let known = state.withLock({ $0.entries[session] }), known.number >= number {
            return known
        }
        var query = UpstreamQuery(filter: ["_id": Self.id(session)], limit: 1)
        query.isSmall = true
        query.isNewest = isNewest
        var stored: BSONDocument?
        do {
            try link.within(nil).find(GatewayDatabase.replies, query, for: nil) { stored = $0 }
        } catch let fault as CommandFailure where isNewest && ErrorLabels.isPassing(fault.code) {
            throw Self.undecided
        }
        guard let stored, let number = stored["number"]?.int64Value else { return nil }
        return Entry(
            number: number, reply: stored["reply"]?.documentValue,
            isTransaction: stored["isTransaction"]?.isTrue ?? false,
            isAborted: stored["isAborted"]?.isTrue ?? false)
    }

    /// Stores what a session does, unless it did this or something later before.
    ///
    /// - Returns: whether it was stored.
    /// - Throws: the upstream's errors.
    func claim(_ entry: Entry, of session: [UInt8], _ link: UpstreamLink) throws -> Bool {
        var command = Self.command(entry, session)
        if link.session == nil {
            // MongoDB waits for a transaction that is about to store an entry.
            command.append("maxTimeMS", .int32(Self.waitMaxMS))
            command.append("writeConcern", ["w": "majority"])
        }
        let reply: BSONDocument
        do {
            reply = try link.run(command, on: GatewayDatabase.name, repeatedAs: .write, for: nil)
        } catch let fault as CommandFailure
            where link.session == nil && ErrorLabels.isPassing(fault.code)
        {
            throw Self.undecided
        }
        // A failover could undo what no majority has.
        guard reply["writeConcernError"] == nil else { throw Self.undecided }
        guard let refusal = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).first
        else { return true }
        let code = Int32(clamping: refusal["code"]?.int64Value ?? 8)
        guard code == Self.duplicateKey else {
            throw CommandFailure(code, refusal["errmsg"]?.stringValue ?? "the reply was refused")
        }
        return false
    }

    private static let waitMaxMS: Int32 = 2_000

    /// The failure after which the client repeats its command, and learns whether it was carried out.
    static let undecided = CommandFailure(
        UpstreamLink.unreachable,
        "the database behind this gateway has not decided whether this was carried out; try again",
        labels: ["RetryableWriteError"])

    private static let duplicateKey: Int32 = 11_000

    /// The largest reply that is remembered; others are asked for at the upstream.
    private static let bytesMax = 4_096

    /// Remembers what a session did, in this gateway.
    func remember(_ entry: Entry, of session: [UInt8]) {
        let isSmall = entry.reply?.byteCount ?? 0 <= Self.bytesMax
        state.withLock { state in
            guard isSmall else {
                state.entries[session] = nil
                return
            }
            if state.entries.updateValue(entry, forKey: session) == nil {
                state.order.append(session)
            }
            guard state.order.count > Self.countMax else { return }
            for old in state.order.prefix(Self.countMax / 2) { state.entries[old] = nil }
            state.order.removeFirst(Self.countMax / 2)
        }
    }

    /// Returns the command that stores an entry.
    private static func command(_ entry: Entry, _ session: [UInt8]) -> BSONDocument {
        var content: BSONDocument = ["number": .int64(entry.number), "at": .datetime(.now)]
        if let reply = entry.reply { content.append("reply", .document(reply)) }
        content.append("isTransaction", .bool(entry.isTransaction))
        if entry.isAborted { content.append("isAborted", true) }
        return [
            "update": .string(GatewayDatabase.replies.collection),
            // Where this or a later one is there, the upsert meets it, and is refused.
            "updates": [
                [
                    "q": ["_id": id(session), "number": ["$lt": .int64(entry.number)]],
                    "u": .document(content), "upsert": true,
                ]
            ],
        ]
    }

    private static func id(_ session: [UInt8]) -> BSONValue { .binary(BSONBinary(session)) }
}
