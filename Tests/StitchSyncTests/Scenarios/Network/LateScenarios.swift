import BSONStore
import Testing

@testable import StitchSync

/// Requests may land long after their sender gave them up, and histories may not say so; what is an
/// app's own must not come back to it as a conflict, and what is uncertain must be told.
@Suite(.remotes)
struct LateScenarios {
    @Test("a request that lands after it was given up for lost is no conflict")
    func landsLate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try await a.set("k", ["x": 1])
        let late = world.postponeWrite()
        try await a.sync()
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            try await world.land(late)
        }
        try await a.set("k", ["x": 2])
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a request that lands between the look and the reading of the history is no conflict")
    func landsAfterTheLook() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let late = world.postponeWrite()
        try await a.insert(["_id": "k", "x": 0, "y": 0])
        try await a.sync()
        try await a.set("k", ["x": 1])
        world.remote.after { call in
            guard call.kind == .find else { return }
            world.remote.after(nil)
            try await world.land(late)
        }
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1, "y": 0])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test(
        "of several requests that were given up, whichever lands is no conflict",
        arguments: [0, 1, 2], [false, true])
    func landsOneOfSeveral(landing: Int, restarts: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        var late: [Locked<[RemoteWrite]>] = []
        for x in 1...3 as ClosedRange<Int32> {
            late.append(world.postponeWrite())
            try await a.sync()
            if restarts { try await a.start() }
            try await a.set("k", ["x": .int32(x)])
        }
        try await world.land(late[landing])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 3])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    /// Has the remote forget its history once, and a script run before the next request that writes.
    private func loseHistory(
        of world: SyncWorld, beforeWrite script: @escaping ScriptedRemote.Script
    ) {
        let isGap = Locked(true)
        world.remote.before { [remote = world.remote] call in
            if call.kind == .changes && isGap.withLock({ $0 }) {
                isGap.withLock { $0 = false }
                throw RemoteError(.historyLost, code: 286, "gone")
            }
            guard call.kind == .write else { return }
            remote.before(nil)
            try await script(call)
        }
    }

    @Test("a delete that was given up explains no delete of a later version")
    func deletedAfterAnotherVersion() async throws {
        let world = try SyncWorld()
        let conflicts = Locked(0)
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                conflicts.withLock { $0 += 1 }
                return conflict.remote == nil ? .useRemote : .useLocal
            })
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        let b = try await world.device("B")
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        try await a.items.deleteOne(["_id": "k"])
        _ = world.postponeWrite()
        try await a.sync()
        try await a.insert(["_id": "k", "x": 1])
        // Another client writes a version on top of which the delete cannot land.
        try await b.set("k", ["y": 2])
        try await b.sync()
        _ = world.postponeWrite()
        try await a.sync()
        #expect(conflicts.withLock { $0 } == 1)
        // Its delete is not the app's own: the handler decides.
        try world.foreignDelete("k")
        try await a.engine.syncUntilQuiet()
        #expect(conflicts.withLock { $0 } == 2)
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.local("k") == nil)
    }

    @Test(
        "a delete that was given up is no conflict with the document that is made anew",
        arguments: [true, false], [true, false])
    func deleteLandsLate(isSeen: Bool, isOwn: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try await a.items.deleteOne(["_id": "k"])
        let late = world.postponeWrite()
        try await a.sync()
        try await a.insert(["_id": "k", "x": 1])
        let land: @Sendable () async throws -> Void = {
            if isOwn { try await world.land(late) } else { try world.foreignDelete("k") }
        }
        if !isSeen { try await land() }
        // The document was seen when the delete was given up, and is gone when it is written to.
        loseHistory(of: world) { _ in
            if isSeen { try await land() }
        }
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    /// A device whose insert of `k` did not arrive and was given up, and was not sent again yet.
    private func deviceWithInsertGivenUp(
        in world: SyncWorld
    ) async throws -> (device: Device, late: Locked<[RemoteWrite]>) {
        let a = try await world.device("A")
        try world.foreign("l") { $0["x"] = 0 }
        try await a.items.sync(ids: ["l"])
        try await a.engine.syncUntilQuiet()
        try await a.insert(["_id": "k", "x": 0])
        let late = world.postponeWrite()
        try await a.sync()
        // The pass ends between the look and the sending: `l`, which the gap in the history has looked
        // at with `k`, has lost its version, and the new one does not arrive.
        try world.foreign("l") { $0[DocumentVersion.fieldName] = nil }
        let sent = Locked<[BSONValue]>([])
        loseHistory(of: world) { call in
            sent.withLock { $0 = call.documentIDs }
            throw RemoteError(.retryable, "timed out")
        }
        try await a.sync()
        #expect(sent.withLock { $0 } == ["l"])
        return (a, late)
    }

    @Test(
        "a delete of what lands after it was given up for lost is sent",
        arguments: [true, false])
    func deleteOfWhatLandsLate(landsFirst: Bool) async throws {
        let world = try SyncWorld()
        let (a, late) = try await deviceWithInsertGivenUp(in: world)
        if landsFirst { try await world.land(late) }
        try await a.items.deleteOne(["_id": "k"])
        if !landsFirst { try await world.land(late) }
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a document that lands late, and was deleted and made anew meanwhile, is no conflict")
    func insertOverWhatLandsLate() async throws {
        let world = try SyncWorld()
        let (a, late) = try await deviceWithInsertGivenUp(in: world)
        try await world.land(late)
        try await a.items.deleteOne(["_id": "k"])
        try await a.insert(["_id": "k", "x": 1])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 2))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test(
        "an insert that lands when its document's record is gone is no conflict for the next one",
        arguments: [true, false], [false, true])
    func landsAfterTheRecord(landsFirst: Bool, restarts: Bool) async throws {
        let world = try SyncWorld()
        let (a, late) = try await deviceWithInsertGivenUp(in: world)
        for round in 1...2 {
            try await a.items.deleteOne(["_id": "k"])
            try await a.engine.syncUntilQuiet()
            #expect(try await a.items.status(of: "k") == .notSynced)
            if restarts { try await a.start() }
            if landsFirst && round == 1 { try await world.land(late) }
            try await a.insert(["_id": "k", "x": 1])
        }
        if !landsFirst { try await world.land(late) }
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 2))
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test("somebody else's insert of an id whose own insert was given up is a conflict")
    func foreignAfterTheRecord() async throws {
        let world = try SyncWorld()
        let (a, _) = try await deviceWithInsertGivenUp(in: world)
        try await a.items.deleteOne(["_id": "k"])
        try await a.engine.syncUntilQuiet()
        try world.foreign("k") { $0["x"] = 7 }
        try await a.insert(["_id": "k", "x": 1])
        try await a.engine.syncUntilQuiet()
        #expect(world.transcript().contains { $0.contains("conflict") })
    }

    @Test("the names of inserts that were given up are kept of the newest documents only")
    func boundedNames() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let rows = try await a.engine.write(a.items.namespace) { sync in
            let rows = UnresolvedAttemptTable(connection: sync.transaction.connection)
            for number in 0...UnresolvedAttemptTable.documentsMax {
                let operation = OperationID(instance: 1, sequence: UInt64(number))
                try rows.add(
                    [UnresolvedAttempt(operation: operation, meaning: .nothing)],
                    of: .int64(number),
                    in: sync.collection.rowID)
            }
            for number in 0..<Int64(SyncRecord.unresolvedMax) {
                let operation = OperationID(instance: 2, sequence: UInt64(number))
                try rows.add(
                    [UnresolvedAttempt(operation: operation, meaning: .nothing)], of: 7,
                    in: sync.collection.rowID)
            }
            return try [0, 1, 7].map { try rows.attempts(of: $0, in: sync.collection.rowID).count }
        }
        #expect(rows == [0, 1, SyncRecord.unresolvedMax])
    }

    @Test(
        "what lands after the handler gave it up for a foreign change does not come back",
        arguments: [false, true])
    func landsAfterTheAnswer(changesAgain: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .remoteWins)
        try await a.insert(["_id": "k", "x": 0, "y": 0])
        try await a.sync()
        try await a.set("k", ["x": 1])
        let late = world.postponeWrite()
        try await a.sync()
        try world.foreign("k") { $0["y"] = 5 }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "x": 0, "y": 5])
        _ = world.transcript()
        try await world.land(late)
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1, "y": 5])
        if changesAgain { try await a.set("k", ["y": 6]) }
        try await a.engine.syncUntilQuiet()
        let kept: BSONDocument = ["_id": "k", "x": 0, "y": changesAgain ? 6 : 5]
        #expect(try await a.local("k") == kept)
        #expect(try world.remoteDocument("k") == kept)
        #expect(!world.transcript().contains { $0.contains("conflict") })
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test(
        "a foreign change beside what lands late is asked about, and not overwritten unseen",
        arguments: [false, true], [false, true])
    func foreignBesideWhatLandsLate(landsFirst: Bool, isLong: Bool) async throws {
        let world = try SyncWorld()
        let asked = Locked<[BSONDocument?]>([])
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                asked.withLock { $0.append(conflict.remote) }
                var merged = conflict.remote
                merged?["z"] = conflict.local?["z"]
                return merged.map { .use($0) } ?? .useRemote
            })
        let text = BSONValue.string(String(repeating: "x", count: isLong ? 2_000 : 1))
        try await a.insert(["_id": "k", "x": 0, "y": 0, "z": 0])
        try await a.sync()
        try await a.set("k", ["x": text])
        let late = world.postponeWrite()
        try await a.sync()
        // Given up: the history does not hold it.
        try await a.set("k", ["z": 1])
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            // The version stays as it was, or is that of the request.
            if landsFirst { try await world.land(late) }
            try world.foreign("k") { $0["y"] = 7 }
            if !landsFirst { try await world.land(late) }
        }
        try await a.engine.syncUntilQuiet()
        let all: BSONDocument = ["_id": "k", "x": text, "y": 7, "z": 1]
        #expect(try world.remoteDocument("k") == all)
        #expect(try await a.local("k") == all)
        #expect(asked.withLock { $0 } == [["_id": "k", "x": text, "y": 7, "z": 0]])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a delete of what never landed leaves nothing behind")
    func deleteOfWhatNeverLands() async throws {
        let world = try SyncWorld()
        let (a, _) = try await deviceWithInsertGivenUp(in: world)
        try await a.items.deleteOne(["_id": "k"])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.status(of: "k") == .notSynced)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a change given up behind a version that nobody understands lets the remote's content in")
    func givenUpBehindForeignVersion() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try world.foreign("k") { document in
            document["x"] = 5
            document[DocumentVersion.fieldName] = "none of ours"
        }
        try await a.set("k", ["x": 1])
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.discardPendingChange(of: "k"))
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 5])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("an insert that waited behind a foreign version is sent once that went away unseen")
    func insertBehindForeignVersion() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 1])
        try world.foreign("k") { $0[DocumentVersion.fieldName] = "none of ours" }
        try await a.sync()
        #expect(try await a.items.status().pending == 1)
        try world.foreignDelete("k")
        world.loseHistory()
        try await a.sync()
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("that a change may have landed is still told after the remote's edition was claimed")
    func uncertainOverClaim() async throws {
        let world = try SyncWorld()
        let flags = Locked<[Bool]>([])
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                flags.withLock { $0.append(conflict.mayHaveLanded) }
                return .useLocal
            })
        try await a.insert(["_id": "k", "x": 0])
        world.remote.after { call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            throw RemoteError(.retryable, "lost")
        }
        try await a.sync()
        try await a.set("k", ["x": 1])
        try world.foreign("k") { document in
            document["x"] = 7
            document[DocumentVersion.fieldName] = nil
        }
        world.loseHistory()
        try await a.sync()
        world.remote.before(nil)
        #expect(flags.withLock { $0 } == [true])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k")?["x"] == 1)
    }
}
