import BSONStore
import StitchSync
import SyncSimulation

/// A remote that lies by seed about the store behind it, until it becomes honest.
final class LyingRemote: Remote {
    /// What lies are told.
    let lies: Set<Lie>
    private let base: InProcessRemote
    private let percent: Int
    private let state: Locked<State>

    private struct State {
        var random: SimulationRandom
        var isLying = false
        var calls: [String: Int] = [:]
    }

    /// Takes the honest remote.
    init(_ base: InProcessRemote, seed: UInt64) {
        var random = SimulationRandom(seed: seed, stream: 1)
        self.base = base
        lies = Lie.some(&random)
        percent = [30, 70, 100].randomElement(using: &random) ?? 100
        state = Locked(State(random: random))
    }

    /// Whether it lies from now on.
    func lie(_ isLying: Bool) { state.withLock { $0.isLying = isLying } }

    /// How many requests of which kind came since this was asked the last time.
    func takeCalls() -> [String: Int] {
        state.withLock { state in
            defer { state.calls = [:] }
            return state.calls
        }
    }

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        LyingCollection(base: base.collection(namespace), liar: self)
    }

    /// Whether a lie is told now.
    func tells(_ lie: Lie) -> Bool {
        lies.contains(lie)
            && state.withLock { state in
                state.isLying && Int.random(in: 0..<100, using: &state.random) < percent
            }
    }

    /// Counts a request, which may fail.
    func count(_ call: String = #function) throws(RemoteError) {
        state.withLock { $0.calls[call, default: 0] += 1 }
        if tells(.errors) { throw error() }
    }

    /// A number from 0 up to, but not including, a bound.
    func below(_ bound: Int) -> Int {
        state.withLock { Int.random(in: 0..<max(bound, 1), using: &$0.random) }
    }

    /// An error of any kind.
    func error() -> RemoteError {
        let classes = RemoteError.Class.allCases
        let codes = [0, 13, 112, 121, 286, 11_000]
        return RemoteError(
            classes[below(classes.count)], code: codes[below(codes.count)], "a lie")
    }

    /// A list with too few entries, too many, or in another order.
    func twisted<Entry>(_ list: [Entry]) -> [Entry] {
        var list = list
        if tells(.wrongOrder) { list.reverse() }
        if tells(.doubledEntries), let first = list.first {
            list = list.map { below(2) == 0 ? first : $0 }
        }
        if tells(.shortLists) { list.removeLast(min(list.count, 1 + below(list.count))) }
        if tells(.longLists) { list += list }
        return list
    }
}
