import BSONStore
import StitchSync

/// One step of a schedule: who does what to the one document `k` with fields `a` and `b`.
struct ScopeAction: Hashable, Sendable, CustomStringConvertible {
    enum Actor: String, Sendable { case a = "A", b = "B", foreign = "F" }

    enum Verb: String, Sendable {
        case setA = "a", setB = "b", same = "n", delete = "d", insert = "i", sync = "S"
        case unbumped = "u", unset = "x", raise = "v", remove = "z", replace = "r"
    }

    let actor: Actor
    let verb: Verb

    var description: String { actor.rawValue + verb.rawValue }
}

/// A fault at one point of a run.
enum ScopeFault: Hashable, Sendable, CustomStringConvertible {
    /// Killed at the k-th transaction, before its commit or after.
    case kill(Int, committed: Bool)
    /// The k-th request does not arrive.
    case lostRequest(Int)
    /// The k-th answer does not arrive.
    case lostAnswer(Int)
    /// Somebody acts before the k-th request is carried out, or before its answer arrives.
    case interrupt(Int, ScopeAction, afterwards: Bool)

    var description: String {
        switch self {
        case .kill(let step, let committed): "kill \(step)\(committed ? " committed" : "")"
        case .lostRequest(let call): "lost request \(call)"
        case .lostAnswer(let call): "lost answer \(call)"
        case .interrupt(let call, let action, let afterwards):
            "\(action) \(afterwards ? "after" : "before") call \(call)"
        }
    }
}

/// How the document stands when a run begins.
package enum ScopeStart: String, CaseIterable, Sendable { case synced, absent, unversioned }

/// How conflicts are answered.
enum ScopePolicy: String, CaseIterable, Sendable {
    case localWins, remoteWins, merge

    func answer(_ conflict: Conflict<BSONDocument>) -> ConflictResolution<BSONDocument> {
        switch self {
        case .localWins: return .useLocal
        case .remoteWins: return .useRemote
        case .merge:
            guard let local = conflict.local, let remote = conflict.remote else {
                return conflict.local == nil ? .useRemote : .useLocal
            }
            var merged = remote
            for (key, value) in local { merged[key] = value }
            return .use(merged)
        }
    }
}

/// The error of a device that was killed.
struct Killed: Error {}

/// Counts steps and calls of a run and carries its fault out.
final class ScopeFaults: Sendable {
    struct State: Sendable {
        var fault: ScopeFault?
        var steps = 0
        var calls = 0
    }

    let state: Locked<State>

    init(_ fault: ScopeFault?) { state = Locked(State(fault: fault)) }

    var counts: (steps: Int, calls: Int) { state.withLock { ($0.steps, $0.calls) } }

    /// Counts a call; gives its number.
    func nextCall() -> Int {
        state.withLock { state in
            state.calls += 1
            return state.calls
        }
    }

    func heal() { state.withLock { $0.fault = nil } }

    /// Takes the fault when it is this one.
    func strikes(_ matches: (ScopeFault) -> Bool) -> Bool {
        state.withLock { state in
            guard let fault = state.fault, matches(fault) else { return false }
            state.fault = nil
            return true
        }
    }

    var probe: EngineProbe {
        EngineProbe(
            commitsOnCallingThread: true, answerArriving: { _ in 0 },
            beforeCommit: { [self] in
                let step = state.withLock { state in
                    state.steps += 1
                    return state.steps
                }
                if strikes({ $0 == .kill(step, committed: false) }) { throw Killed() }
            },
            afterCommit: { [self] in
                let step = state.withLock { $0.steps }
                if strikes({ $0 == .kill(step, committed: true) }) { throw Killed() }
            })
    }
}
