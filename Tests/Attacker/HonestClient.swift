import BSONStore
import TestProcesses

/// Writes with acknowledgement, one document after the other, while others flood the server.
final class HonestClient: Sendable {
    /// What became of its writes.
    struct Account: Sendable {
        var ledger = WireLedger()
        var end = AttackOutcome.End.clean
        var refusals = 0
        var longest: Duration = .zero
    }

    private let port: Int
    private let first: Int64
    private let isOver = Locked(false)
    private let written = Locked(0)

    /// Takes the port of the server and the `_id` of its first document.
    init(port: Int, first: Int64) {
        self.port = port
        self.first = first
    }

    /// How many writes were acknowledged so far; none comes behind a failure.
    var writtenCount: Int { written.withLock { $0 } }

    /// Has it end after the write that is under way.
    func stop() { isOver.withLock { $0 = true } }

    /// Whether it ended, by itself or since it was told to.
    var hasEnded: Bool { isOver.withLock { $0 } }

    /// Writes until it is told to stop, or a write is not answered; blocks.
    func write() -> Account {
        defer { stop() }
        var account = Account()
        var id = first
        var client: WireClient?
        while !hasEnded {
            if client == nil { client = WireClient(port: port) }
            guard let open = client else {
                account.end = .trap
                return account
            }
            let document: BSONDocument = ["_id": .int64(id), "text": .string("honest \(id)")]
            let start = ContinuousClock.now
            let answer = open.run(
                WireLedger.insert([document], in: "honest"), within: AttackedServer.patience)
            account.longest = max(account.longest, ContinuousClock.now - start)
            if RequestAttack.isWritten(answer) {
                account.ledger.note([document], in: "honest")
                written.withLock { $0 += 1 }
            } else {
                switch answer {
                case .reply: account.refusals += 1
                case .closed:
                    client = nil
                    account.refusals += 1
                case .silent:
                    account.end = .hang
                    return account
                }
            }
            id += 1
        }
        return account
    }
}
