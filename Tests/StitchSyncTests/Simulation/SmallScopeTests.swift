import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// Without these a rule could be wrong in a way that shows only after an unlucky kill or lost answer.
struct SmallScopeTests {
    /// Every schedule of two actions, with single kills, lost requests, lost answers and
    /// interruptions: one in `SMALL_SCOPE_STRIDE` of them, each time others; 1 takes all.
    ///
    /// `SMALL_SCOPE_DEPTH` makes the schedules longer. `make simulate-scope` runs them all.
    @Test(
        "every short schedule with every single fault keeps the invariants",
        arguments: ScopeStart.allCases, ScopePolicy.allCases)
    func exhaustive(start: ScopeStart, policy: ScopePolicy) async throws {
        let depth = Self.setting("SMALL_SCOPE_DEPTH") ?? 2
        let stride = Self.setting("SMALL_SCOPE_STRIDE") ?? 41
        let stores = try ScopeStores()
        var runs = 0
        var points = 0
        for schedule in Self.schedules(start, depth) {
            let plain = try await check(stores, start, policy, schedule, nil)
            runs += 1
            for fault in Self.faults(steps: plain.steps, calls: plain.calls) {
                points += 1
                guard points % stride == 0 else { continue }
                _ = try await check(stores, start, policy, schedule, fault)
                runs += 1
            }
        }
        #expect(points > 1000)
        Attachment.record(
            "\(start.rawValue) \(policy.rawValue) depth \(depth): \(runs) runs", named: "runs.txt")
    }

    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    private func check(
        _ stores: ScopeStores, _ start: ScopeStart, _ policy: ScopePolicy,
        _ schedule: [ScopeAction], _ fault: ScopeFault?
    ) async throws -> (steps: Int, calls: Int) {
        let run = try ScopeRun(on: stores, policy: policy, fault: fault)
        let (violations, steps, calls) = try await run.run(start, schedule)
        let what = schedule.map(\.description).joined(separator: " ")
        #expect(
            violations.isEmpty,
            "\(start.rawValue) \(policy.rawValue): \(what), \(fault?.description ?? "no fault")")
        return (steps, calls)
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
