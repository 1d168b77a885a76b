#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import BSONStore
import StitchSync

/// Runs the world of one seed and says what was violated.
package struct Simulation: Sendable {
    /// What a run came to.
    package struct Outcome: Sendable {
        /// What was violated, first things first.
        package var violations: [String] = []
        /// What happened, where it was asked for.
        package var lines: [String] = []
        /// The remote's documents and the number of changes it saw: equal for equal runs.
        package var digest = ""

        /// The names of the invariants that were violated, first things first.
        var invariants: [Substring] { violations.map { $0.prefix { $0 != " " } } }
    }

    /// What happens.
    package var plan: SimulationPlan

    /// Takes a plan.
    package init(_ plan: SimulationPlan) { self.plan = plan }

    /// Runs the plan.
    ///
    /// - Parameter isTold: keeps what happened, for people.
    /// - Throws: what the machine's own disk says; faults of the world are part of the outcome.
    package func run(isTold: Bool = false) async throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "simulation-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let world = try SimulationWorld(plan, folder: folder, isTold: isTold)
        let outcome = try await world.run()
        await world.end()
        try FileManager.default.removeItem(atPath: folder)
        return outcome
    }

    /// Leaves steps and faults out while the run still violates the invariant that it violates first.
    package func shrunk() async throws -> SimulationPlan {
        guard let invariant = try await run().invariants.first else { return plan }
        func fails(_ plan: SimulationPlan) async throws -> Bool {
            try await Simulation(plan).run().invariants.contains(invariant)
        }
        var plan = plan
        var size = max(plan.steps.count / 2, 1)
        while true {
            var isSmaller = false
            var start = 0
            while start < plan.steps.count {
                var fewer = plan
                fewer.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                if try await fails(fewer) {
                    plan = fewer
                    isSmaller = true
                } else {
                    start += size
                }
            }
            if size == 1 && !isSmaller { break }
            size = max(size / 2, 1)
        }
        for fault in plan.rates.indices where plan.rates[fault] > 0 {
            var fewer = plan
            fewer.rates[fault] = 0
            if try await fails(fewer) { plan = fewer }
        }
        return plan
    }
}

extension SimulationWorld {
    /// Runs all steps, heals the world, and checks it.
    func run() async throws -> Simulation.Outcome {
        dice.begin(0, isQuiet: true)
        try await setUp()
        for step in plan.steps {
            dice.note(step.description)
            dice.begin(step.stream, isQuiet: false)
            await act(step.kind)
            dice.begin(step.stream, isQuiet: true)
            try await restartDead()
            try await check()
            if !violations.isEmpty { return try outcome() }
        }
        try await heal()
        return try outcome()
    }

    private var violations: [String] { ledger.withLock { $0.violations } }

    private func outcome() throws -> Simulation.Outcome {
        var digest = "\(try remoteStore.changePosition)"
        for document in 0..<plan.documents {
            let current = try remoteStore.read {
                try $0.get(namespace(document), id: id(document))
            }
            digest += " \(current?.extendedJSON(.canonical) ?? "-")"
        }
        return Simulation.Outcome(
            violations: violations, lines: dice.lines, digest: digest)
    }

    /// Closes all stores.
    func end() {
        for client in clients { client.store.close() }
        clients = []
        earlierStore?.close()
        otherStore.close()
        remoteStore.close()
    }
}

// MARK: - Checks

extension SimulationWorld {
    /// Invariants that hold at any time: I1, I5, I7.
    func check() async throws {
        drain()
        for number in clients.indices {
            let client = clients[number]
            let findings = try await client.engine.verify()
            for finding in findings where !isOfLostRow(finding, number) {
                fail("I7 c\(number) \(finding)")
            }
            checkLostRows(number, findings)
            try hear(number)
            for document in 0..<plan.documents {
                let now = try local(client, document)
                if !isEqual(clients[number].told[document], now) {
                    fail("I5 no event told: c\(number) d\(document)")
                }
            }
            let rejected = try await rejected(number)
            try ledger.withLock { ledger in
                ledger.rejected[number] = rejected
                try ledger.check(number) { try local(client, $0) }
            }
        }
    }

    /// I5: what the events say, one after another.
    ///
    /// Apps hear them before they write, too: a document that left the device may be inserted anew
    /// within the same pass, and what was sent of the one before is somebody else's by then.
    func hear(_ number: Int) throws {
        // A document that left may have landed just before.
        drain()
        for index in 0..<(plan.hasTwoCollections ? 2 : 1) {
            let events = try clients[number].engine.storedEvents(
                after: clients[number].lastEvent[index], in: Self.namespaces[index],
                limit: 100_000)
            for event in events {
                clients[number].lastEvent[index] = event.sequence
                guard let document = document(event.namespace, event.documentID) else {
                    fail("I5 an event of another document")
                    continue
                }
                if event.reason == .committed && event.hasUncommittedWrites { continue }
                if event.operationType == .evict || event.reason == .compensation {
                    ledger.withLock { $0.noteLeft(number, document) }
                }
                clients[number].told[document] = event.fullDocument
            }
        }
    }

    /// Ends all faults; then I2, L1 and, at the end, I1.
    private func heal() async throws {
        dice.note("all is well again")
        dice.begin(1_000_000, isQuiet: true)
        await landAll()
        for number in clients.indices {
            clients[number].isCutOff = false
            clients[number].engine.setOnline(true)
        }
        try await scanForLostRows()
        try await settle("while some are paused", isStrict: false)
        try repairVersions()
        for number in clients.indices { try await resume(number) }
        if SimulationPlan.hasSubscriptions(plan.seed) {
            try await settle("when resumed", isStrict: false)
            for number in clients.indices { try await giveUpRefused(number) }
        }
        if plan.rates[SimulationFault.lostRow.rawValue] > 0 {
            // A row that was lost while its document was paused is missed once that takes part again.
            try await settle("when lost rows are known", isStrict: false)
            for number in clients.indices { try await resume(number) }
        }
        try await settle("in the end", isStrict: true)
        for number in clients.indices {
            for document in 0..<plan.documents {
                try await clients[number].engine.forceScan(namespace(document))
            }
        }
        try await settle("after a full scan", isStrict: true)
        try await check()
        ledger.withLock { $0.checkEnd() }
    }

    /// Lets everybody pass until all is quiet.
    private func settle(_ name: String, isStrict: Bool) async throws {
        guard violations.isEmpty else { return }
        let roundsMax = 4 + clients.count
        for round in 1...roundsMax {
            var isQuiet = true
            for number in clients.indices {
                let report = try await clients[number].engine.syncNow()
                if !report.isQuiet { isQuiet = false }
                let isUnreadable = plan.refusesQueries && report.errors.contains(.notAuthorized)
                if !report.reachedRemote && !isUnreadable {
                    fail("L1 c\(number) does not reach the remote")
                }
            }
            try await check()
            if isQuiet { break }
            if round == roundsMax { fail("L1 no quiet after \(round) rounds \(name)") }
        }
        for number in clients.indices {
            let latest = try clients[number].engine.subscriptions.latest
            let isRefused = if case .error = latest.state { plan.refusesQueries } else { false }
            if latest.version > 0 && latest.state != .complete && !isRefused {
                fail("L1 c\(number) has a set that is \(latest.state) \(name)")
            }
            try await converge(number, name, isStrict: isStrict)
        }
    }

    private func converge(_ number: Int, _ name: String, isStrict: Bool) async throws {
        for document in 0..<plan.documents {
            let status = try await items(number, document).status(of: id(document))
            let remote = try remoteStore.read {
                try $0.get(namespace(document), id: id(document))
            }
            try checkView(number, document, status, remote, name)
            switch status {
            case .notSynced: continue
            case .paused(let reason):
                if isStrict { fail("L1 c\(number) d\(document) paused \(name): \(reason)") }
                continue
            case .pending, .stale, .conflicted:
                let isForeign =
                    if case .foreign? = remote.map(VersionField.init) { true } else { false }
                // Rule R6: writes to it stay queued until its writer repairs the field.
                if isForeign && !isStrict { continue }
                fail("L1 c\(number) d\(document) is \(status) \(name)")
            case .unexplained:
                // The remote keeps tombstones: every absence is explained.
                fail("I2 c\(number) d\(document) is unexplained \(name)")
            case .synced: break
            }
            if !isEqual(try local(clients[number], document), remote?.bare) {
                fail("I2 c\(number) d\(document) differs \(name)")
            }
        }
    }
}
