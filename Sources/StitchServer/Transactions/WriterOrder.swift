/// The writers of a store, those that wait and those that write, and which of them is next.
///
/// Single writes may write together; a transaction of several commands writes alone. The owner whose
/// last turn ended longest ago is next. So an owner that opens one transaction after the other keeps
/// another one waiting for the transaction that holds the lock, and for no further one. The writers
/// of one owner keep their order of arrival.
struct WriterOrder: Sendable {
    /// The kind of a writer.
    enum Kind: Sendable {
        /// A write that is one transaction.
        case single
        /// A transaction of several commands.
        case transaction
    }

    private struct Writer {
        let owner: [UInt8]
        let kind: Kind
        var writes = false
    }

    /// The number of owners whose last turns are known; who had a turn long ago is as one who had
    /// none.
    static let ownersMax = 1_024

    private var writers: [UInt64: Writer] = [:]
    private var lastPlace: UInt64 = 0
    /// The owners' last turns, by the number of the turn.
    private var lastTurns: [[UInt8]: UInt64] = [:]
    private var turnCount: UInt64 = 0

    /// Whether a writer waits for its turn.
    var hasWaiting: Bool { writers.values.contains { !$0.writes } }

    /// The number of writers, those that wait and those that write.
    var count: Int { writers.count }

    /// Adds a waiting writer, and returns its place.
    mutating func enter(_ owner: [UInt8], _ kind: Kind) -> UInt64 {
        lastPlace += 1
        writers[lastPlace] = Writer(owner: owner, kind: kind)
        return lastPlace
    }

    /// Lets a writer write if it is its turn, until it leaves; returns whether it writes.
    mutating func begin(_ place: UInt64) -> Bool {
        guard let writer = writers[place], !writer.writes else { return true }
        let own = turn(writer, place)
        let isHeldUp = writers.contains { other, its in
            guard other != place, writer.kind == .transaction || its.kind == .transaction else {
                return false
            }
            return its.writes || turn(its, other) < own
        }
        guard !isHeldUp else { return false }
        writers[place]?.writes = true
        return true
    }

    private func turn(_ writer: Writer, _ place: UInt64) -> (UInt64, UInt64) {
        (lastTurns[writer.owner] ?? 0, place)
    }

    /// Removes a writer that has written, or that does not wait any more.
    mutating func leave(_ place: UInt64) {
        guard let writer = writers.removeValue(forKey: place), writer.writes else { return }
        turnCount += 1
        lastTurns[writer.owner] = turnCount
        guard lastTurns.count > Self.ownersMax else { return }
        let oldest = turnCount - UInt64(Self.ownersMax / 2)
        lastTurns = lastTurns.filter { $0.value > oldest }
    }
}
