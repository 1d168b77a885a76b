import BSONStore
import Testing

@testable import StitchSync

/// A statement that reads the whole table for each document makes a pass quadratic.
struct StatementPlanTests {
    /// The tables of the engine that grow with documents, changes and events.
    private static let growing = [
        "sync_documents", "sync_bases", "sync_staged", "sync_events", "sync_earlier",
        "sync_rejected", "sync_wanted", "sync_attempts", "sync_history", "sync_history_fields",
        "sync_given_up",
    ]

    /// A step of a plan that reads all rows of a table, and why that is right.
    private struct Allowed {
        /// A part of the statement.
        let statement: String
        /// The beginning of the step.
        let step: String
        let reason: String
    }

    private static let allowed = [
        Allowed(
            statement: "DELETE FROM sync_bases", step: "SCAN sync_bases",
            reason: "once after an upload; SQLite truncates the table"),
        Allowed(
            statement: "DELETE FROM sync_staged", step: "SCAN sync_staged",
            reason: "once after a set; SQLite truncates the table"),
        Allowed(
            statement: "INSERT OR IGNORE INTO sync_earlier", step: "SCAN",
            reason: "once for each set, over the pending changes"),
        Allowed(
            statement: "FROM sync_earlier", step: "SCAN sync_earlier",
            reason: "once for each turn, over the changes before a set"),
        Allowed(
            statement: "FROM sync_wanted", step: "SCAN sync_wanted",
            reason: "a row holds a batch of ids"),
        Allowed(
            statement: "FROM sync_attempts", step: "SCAN sync_attempts",
            reason: "a row holds a batch of attempts"),
        Allowed(
            statement: "SELECT newest.id", step: "SCAN sync_history",
            reason: "its first and its last row"),
    ]

    /// Statements of the caches of all connections that the engine uses.
    private func statements(of device: Device) async throws -> Set<String> {
        let written = try await device.store.write { $0.connection.cachedStatements }
        return written.union(try device.store.read { $0.connection.cachedStatements })
            .filter { $0.contains("sync_") && !$0.hasPrefix("EXPLAIN") && !$0.hasPrefix("CREATE") }
    }

    /// Has the engine run what it can.
    private func everything(_ world: SyncWorld) async throws -> (Device, Set<String>) {
        let a = try await world.device("A", handler: .remoteWins)
        var seen: Set<String> = []
        func look() async throws { seen.formUnion(try await statements(of: a)) }
        for number in 1...6 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = .int32(number) }
        }
        try await a.items.sync(ids: [1, 7])
        try await a.settle()
        try await look()
        try await a.subscribe("low", to: ["n": ["$lte": 3]])
        try await a.settle()
        try await a.set(1, ["x": 1])
        try await a.subscribe("low", to: ["n": ["$lte": 4]])
        try await a.insert(["_id": 50, "n": 99])
        try await a.subscribe("other", to: ["n": 6])
        try await look()
        try await a.settle()
        try await look()
        try world.foreign(1) { $0["y"] = 2 }
        try await a.set(1, ["x": 2])
        try await a.insert(["_id": 10, "n": 1])
        try await a.delete(2)
        try await a.settle()
        try await look()
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "no")) }
        }
        try await a.set(1, ["x": 3])
        try await a.settle()
        world.remote.outcomes(nil)
        _ = try await a.items.status()
        _ = try await a.items.rejectedWrites.all()
        _ = try await a.items.pausedIDs
        try await a.items.resumeSync(of: 1)
        try await look()
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.settle()
        try await a.engine.subscriptions.update { $0.removeAll() }
        try await a.items.desync(ids: [1, 7, 10, 50])
        try await a.settle()
        try await look()
        return (a, seen)
    }

    @Test("every statement of the engine finds its rows by an index, and in the index's order")
    func plans() async throws {
        let (device, statements) = try await everything(try SyncWorld())
        #expect(statements.count > 40)
        for sql in statements.sorted() {
            let steps = try device.store.read { transaction -> [String] in
                let explain = try transaction.connection.prepare("EXPLAIN QUERY PLAN \(sql)")
                var steps: [String] = []
                while try explain.step() { steps.append(explain.string(3)) }
                return steps
            }
            for step in steps {
                let isScan = Self.growing.contains { table in
                    step == "SCAN \(table)"
                        || step.hasPrefix("SCAN \(table) ")
                            && !step.contains("USING INDEX")
                            && !step.contains("USING COVERING INDEX")
                }
                guard isScan || step.hasPrefix("USE TEMP B-TREE") else { continue }
                let isAllowed = Self.allowed.contains {
                    sql.contains($0.statement) && step.hasPrefix($0.step)
                }
                #expect(isAllowed, "\(step): \(sql)")
            }
        }
    }
}
