/// Runs every short schedule of two clients and a foreign writer with every single fault.
///
/// Two reductions keep that small: a schedule in which an action finds nothing to do is the same as
/// the shorter one without it, and where no handler was asked, one policy stands for all.
package struct SmallScope: Sendable {
    /// What a search came to.
    package struct Tally: Sendable {
        /// Schedules that stand for themselves.
        package var schedules = 0
        /// Runs, with and without faults.
        package var runs = 0
        /// What was violated, with the schedule and the fault.
        package var violations: [String] = []

        /// Counts nothing.
        package init() {}

        /// Adds another's.
        package mutating func add(_ other: Tally) {
            schedules += other.schedules
            runs += other.runs
            violations += other.violations
        }
    }

    /// Actions of a schedule, the sync at its end not counted.
    package var depth: Int
    /// One in so many kills, lost requests and lost answers strikes; 1 is all.
    package var faultStride: Int
    /// One in so many points at which somebody acts in the middle of a request is tried.
    package var interruptStride: Int

    /// Makes a search.
    package init(depth: Int, faultStride: Int = 1, interruptStride: Int = 1) {
        self.depth = depth
        self.faultStride = faultStride
        self.interruptStride = interruptStride
    }

    /// Runs one share of the schedules of a start: those whose number leaves this rest.
    package func search(
        _ start: ScopeStart, share: Int = 0, of shares: Int = 1
    ) async throws -> Tally {
        let stores = try ScopeStores()
        var tally = Tally()
        var points = (fault: share, interrupt: share)
        let schedules = Self.schedules(start, depth)
        for index in stride(from: share, to: schedules.count, by: shares) {
            let schedule = schedules[index]
            let plain = try await check(stores, start, schedule, nil, &tally)
            guard !plain.hasIdleAction else { continue }
            tally.schedules += 1
            for fault in Self.faults(steps: plain.steps, calls: plain.calls) {
                if case .interrupt = fault {
                    points.interrupt += 1
                    guard points.interrupt % interruptStride == 0 else { continue }
                } else {
                    points.fault += 1
                    guard points.fault % faultStride == 0 else { continue }
                }
                _ = try await check(stores, start, schedule, fault, &tally)
            }
        }
        return tally
    }

    /// Runs a schedule under one policy, and under the others where that makes a difference.
    private func check(
        _ stores: ScopeStores, _ start: ScopeStart, _ schedule: [ScopeAction],
        _ fault: ScopeFault?, _ tally: inout Tally
    ) async throws -> ScopeRun.Outcome {
        var plain = ScopeRun.Outcome()
        for policy in ScopePolicy.allCases {
            let run = try ScopeRun(on: stores, policy: policy, fault: fault)
            let outcome = try await run.run(start, schedule)
            tally.runs += 1
            if !outcome.violations.isEmpty {
                let what = schedule.map(\.description).joined(separator: " ")
                tally.violations.append(
                    "\(start.rawValue) \(policy.rawValue): \(what), "
                        + "\(fault?.description ?? "no fault"): \(outcome.violations)")
            }
            plain.steps = max(plain.steps, outcome.steps)
            plain.calls = max(plain.calls, outcome.calls)
            plain.hasIdleAction = outcome.hasIdleAction
            guard outcome.wasAsked else { break }
        }
        return plain
    }

    private static func schedules(_ start: ScopeStart, _ depth: Int) -> [[ScopeAction]] {
        let own: [ScopeAction.Verb] =
            start == .absent
            ? [.insert, .setA, .delete, .sync] : [.setA, .setB, .same, .delete, .insert, .sync]
        let foreign: [ScopeAction.Verb] = [.unbumped, .unset, .raise, .remove, .replace]
        let alphabet =
            own.map { ScopeAction(actor: .a, verb: $0) }
            + own.filter { $0 != .same && $0 != .setB }.map { ScopeAction(actor: .b, verb: $0) }
            + foreign.map { ScopeAction(actor: .foreign, verb: $0) }
        var schedules: [[ScopeAction]] = [[]]
        for _ in 0..<depth {
            schedules = schedules.flatMap { schedule in alphabet.map { schedule + [$0] } }
        }
        let finish = ScopeAction(actor: .a, verb: .sync)
        return schedules.filter { $0.contains { $0.actor == .a } }.map { $0 + [finish] }
    }

    private static func faults(steps: Int, calls: Int) -> [ScopeFault] {
        let others: [ScopeAction] = [
            ScopeAction(actor: .b, verb: .sync), ScopeAction(actor: .foreign, verb: .raise),
            ScopeAction(actor: .foreign, verb: .unset), ScopeAction(actor: .foreign, verb: .remove),
            ScopeAction(actor: .foreign, verb: .unbumped), ScopeAction(actor: .a, verb: .setA),
            ScopeAction(actor: .a, verb: .delete),
        ]
        var faults: [ScopeFault] = []
        for step in 0..<steps {
            faults += [.kill(step + 1, committed: false), .kill(step + 1, committed: true)]
        }
        for call in 0..<calls {
            faults += [.lostRequest(call + 1), .lostAnswer(call + 1)]
            for action in others {
                faults += [
                    .interrupt(call + 1, action, afterwards: false),
                    .interrupt(call + 1, action, afterwards: true),
                ]
            }
        }
        return faults
    }
}
