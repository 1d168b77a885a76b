import BSONStore

/// Decides what goes wrong, from the numbers of the step that is under way.
final class SimulationDice: Sendable {
    private struct State: Sendable {
        var random: SimulationRandom
        var rates: [Int]
        var isQuiet = true
        var lines: [String]?
    }

    private let seed: UInt64
    private let state: Locked<State>

    /// - Parameter isTold: keeps a line for each thing that happens.
    init(_ plan: SimulationPlan, isTold: Bool) {
        seed = plan.seed
        state = Locked(
            State(
                random: SimulationRandom(seed: plan.seed), rates: plan.rates,
                lines: isTold ? [] : nil))
    }

    /// Begins a step; faults strike from here on, or do not.
    func begin(_ stream: UInt64, isQuiet: Bool) {
        state.withLock { state in
            state.random = SimulationRandom(seed: seed, stream: stream)
            state.isQuiet = isQuiet
        }
    }

    /// Whether a fault strikes here.
    func strikes(_ fault: SimulationFault) -> Bool {
        let strikes = state.withLock { state in
            !state.isQuiet && state.rates[fault.rawValue] > 0
                && state.random.percent(state.rates[fault.rawValue])
        }
        if strikes { note("    \(fault)") }
        return strikes
    }

    /// Draws something.
    func draw<R>(_ body: (inout SimulationRandom) -> R) -> R {
        state.withLock { body(&$0.random) }
    }

    /// Whether faults are over.
    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    /// Keeps a line of what happened, where they are kept.
    func note(_ line: @autoclosure () -> String) {
        state.withLock { state in
            if state.lines != nil { state.lines?.append(line()) }
        }
    }

    /// What happened so far.
    var lines: [String] { state.withLock { $0.lines ?? [] } }
}

/// The error of a client whose process was killed.
struct SimulationKill: Error {}

/// One life of a client's process; what its engine still does after its end is undone.
final class SimulationLife: Sendable {
    private let isOverBox = Locked(false)
    /// The streams from which the client's own changes are left out.
    let streams = Locked<[Namespace: EchoStream]>([:])
    private let dice: SimulationDice

    init(_ dice: SimulationDice) { self.dice = dice }

    /// The process is dead.
    var isOver: Bool { isOverBox.withLock { $0 } }

    /// Ends the life.
    func end() { isOverBox.withLock { $0 = true } }

    /// Called before each commit: dead processes commit nothing.
    func beforeCommit() throws {
        if isOver { throw SimulationKill() }
        if dice.strikes(.killBefore) {
            end()
            throw SimulationKill()
        }
        if dice.strikes(.diskFull) { throw StoreError(.diskFull, "the simulated disk is full") }
    }

    /// Called after each commit.
    func afterCommit() throws {
        if dice.strikes(.killAfter) {
            end()
            throw SimulationKill()
        }
    }
}
