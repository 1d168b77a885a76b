import BSONStore
import Foundation
import StitchSync
import TestProcesses

/// A device in step whose remote begins to lie, while changes wait on both sides.
struct LiedDevice {
    private static let things = Namespace("app", "things")
    private static let notes = Namespace("app", "notes")
    private static let later = Namespace("app", "later")
    /// What the device's user did that was not sent before the lies began.
    private static let updatedHere: Range<Int32> = 0..<8
    private static let deletedHere: Range<Int32> = 8..<12
    private static let insertedHere: Range<Int32> = 1_000..<1_004
    /// What others did at the remote.
    static let updatedThere: Range<Int32> = 20..<26
    private static let deletedThere: Range<Int32> = 26..<30
    private static let insertedThere: Range<Int32> = 2_000..<2_004
    private static let all: Range<Int32> = 0..<60
    /// Requests that a pass may take, whatever is answered: the history of each of three collections
    /// may have a thousand pages.
    private static let callsPerPassMax = 4_000
    /// Requests that half a second may take: sixty passes in a row may find work before the loop
    /// pauses, each with some fifteen requests for each of three collections.
    private static let callsPerMomentMax = 4_000

    let seed: UInt64

    /// Has a child be lied to.
    func attack() async throws -> AttackOutcome {
        let answer = try await AttackChild.run("lied", "\(seed)")
        let lines = answer.output.split(separator: "\n").map(String.init)
        return AttackOutcome(
            what: lines.first ?? "nothing was said", end: .init(code: answer.code),
            excesses: lines.filter { $0.hasPrefix("excess: ") },
            lost: lines.filter { $0.hasPrefix("lost: ") }, output: answer.output)
    }

    /// The code that the child ends with: 3 where an error was told while the remote was honest again.
    func run() async throws -> Int32 {
        let base = try InProcessRemote(at: .inMemory)
        let remote = LyingRemote(base, seed: seed)
        print("\(remote.lies)")
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: remote,
            backoff: Backoff(initial: .seconds(600), cap: .seconds(600)))
        try await putInStep(engine, base.store)
        try await change(engine, base.store)
        try await beLiedTo(engine, remote)
        let isRefused = try await recover(engine)
        let ledger = LiedLedger(
            engine: engine, remote: base.store, updated: Self.updatedHere,
            deleted: Self.deletedHere, inserted: Self.insertedHere,
            deletedThere: Self.deletedThere, insertedThere: Self.insertedThere,
            calledAbsent: remote.lies.contains(.absence))
        for namespace in [Self.things, Self.notes, Self.later] {
            let isWritten = namespace == Self.things
            let losses = try await ledger.losses(
                in: namespace, isWritten: isWritten, wasHere: namespace != Self.later, all: Self.all
            )
            for loss in losses {
                print("lost: \(loss)")
            }
        }
        return isRefused ? 3 : 0
    }

    private func putInStep(_ engine: SyncEngine, _ remote: DocumentStore) async throws {
        for namespace in [Self.things, Self.notes, Self.later] {
            try await remote.collection(namespace).insertMany(Self.all.map(LiedLedger.document))
            guard seed % 2 == 0 else { continue }
            await engine.collection(namespace).configure(
                conflictHandler: ConflictHandler { Self.resolution($0) })
        }
        try await engine.collection(Self.things).subscribe(waitForSync: .never)
        try await engine.collection(Self.notes).sync(ids: Self.all.map { .int32($0) })
        try await engine.syncUntilQuiet()
    }

    /// What a sensible app answers: its user's own changes stay, and only contents that its user wrote.
    private static func resolution(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument> {
        guard conflict.namespace == things, case .int32(let id) = conflict.documentID else {
            return .useRemote
        }
        if deletedHere.contains(id) { return .delete }
        var own = LiedLedger.document(id)
        if updatedHere.contains(id) { own["at"] = "device" }
        let isOwn = updatedHere.contains(id) || insertedHere.contains(id)
        return isOwn ? .use(own) : .useRemote
    }

    private func change(_ engine: SyncEngine, _ remote: DocumentStore) async throws {
        let (here, there) = (engine.collection(Self.things), remote.collection(Self.things))
        for id in Self.updatedHere {
            _ = try await here.updateOne(["_id": .int32(id)], ["$set": ["at": "device"]])
        }
        for id in Self.deletedHere { _ = try await here.deleteOne(["_id": .int32(id)]) }
        _ = try await here.insertMany(Self.insertedHere.map(LiedLedger.document))
        for id in Self.updatedThere {
            _ = try await there.updateOne(["_id": .int32(id)], ["$set": ["at": "remote"]])
        }
        for id in Self.deletedThere { _ = try await there.deleteOne(["_id": .int32(id)]) }
        try await there.insertMany(Self.insertedThere.map(LiedLedger.document))
    }

    private func beLiedTo(_ engine: SyncEngine, _ remote: LyingRemote) async throws {
        remote.lie(true)
        try await engine.collection(Self.later).subscribe(
            to: ["n": ["$gte": 0]], waitForSync: .never)
        for pass in 0..<8 {
            _ = remote.takeCalls()
            do {
                if pass == 4 { try await engine.forceScan(Self.things) }
                try await engine.syncNow()
            } catch { print("pass \(pass): \(error)") }
            tell(remote.takeCalls(), of: "a pass", callsMax: Self.callsPerPassMax)
        }
        if seed % 4 == 0 {
            try await runForAWhile(engine)
            tell(remote.takeCalls(), of: "a moment", callsMax: Self.callsPerMomentMax)
        }
        remote.lie(false)
    }

    private func tell(_ calls: [String: Int], of what: String, callsMax: Int) {
        let count = calls.values.reduce(0, +)
        if count > callsMax { print("excess: \(count) requests in \(what): \(calls)") }
    }

    /// Syncs as an app does, for half a second.
    private func runForAWhile(_ engine: SyncEngine) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { end.finish() }
        timer.schedule(deadline: .now() + 0.5)
        timer.resume()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            for await _ in ends {}
            group.cancelAll()
            try await group.waitForAll()
        }
        timer.cancel()
    }

    /// Syncs with the remote that became honest, as an app does that was told of a stop.
    private func recover(_ engine: SyncEngine) async throws -> Bool {
        var isRefused = false
        for _ in 0..<3 {
            for namespace in [Self.things, Self.notes, Self.later] {
                let collection = engine.collection(namespace)
                if try await collection.status().stop != nil {
                    print("adopted: \(namespace)")
                    try await collection.adoptRemote()
                }
                try await engine.forceScan(namespace)
            }
            let report = try await engine.syncUntilQuiet(passesMax: 30).report
            for error in report.errors {
                print("honest: \(error.rawValue)")
                isRefused = true
            }
        }
        for finding in try await engine.verify() {
            print("finding: \(finding)")
            isRefused = true
        }
        return isRefused
    }
}
