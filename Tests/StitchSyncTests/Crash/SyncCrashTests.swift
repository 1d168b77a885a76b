import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@testable import BSONCore
@testable import BSONStore
@testable import StitchSync

/// Without this a process that dies in a pass could take acknowledged writes with it, send one twice,
/// or leave records that do not fit their documents.
struct SyncCrashTests {
    private static let kills =
        ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 20

    @Test("a process that is killed while it syncs loses nothing and sends nothing twice")
    func killed() async throws {
        let directory = try ScratchDirectory()
        let place = directory.path("")
        try Data().write(to: URL(fileURLWithPath: place + "/ledger"))
        for round in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [place = place as String, round = round as Int] in
                try await SyncingWriter(directory: place, round: round).runUntilKilled()
            }
            try await Self.check(place)
        }
        try await Self.checkEnd(place)
    }

    /// Opens the file as the next process finds it, and compares it with the ledger.
    private static func check(_ place: String) async throws {
        let store = try DocumentStore(at: .file(place + "/local.store"))
        defer { store.close() }
        #expect(try store.verify().faults == [])
        let engine = try SyncEngine(store: store, remote: NoRemote())
        #expect(try await engine.verify() == [])
        for (id, number) in try acknowledged(place) {
            let local = try store.read { try $0.get(SyncingWriter.namespace, id: .string(id)) }
            // The write after the last acknowledged one may be in.
            let isIn = [number, number + 1].contains { SyncingWriter.matches(local, after: $0) }
            #expect(isIn, "\(id) after write \(number) is \(local.map { "\($0)" } ?? "gone")")
            guard isIn, !SyncingWriter.matches(local, after: number) else { continue }
            // The next process may be killed between write and note as well.
            let ledger = openFile(place + "/ledger", O_WRONLY | O_APPEND, 0o600)
            let line = Array("\(id) \(number + 1)\n".utf8)
            #expect(append(ledger, line, line.count) == line.count && close(ledger) == 0)
        }
    }

    /// The number of the last acknowledged write of each document.
    private static func acknowledged(_ place: String) throws -> [String: Int] {
        let ledger = try Data(contentsOf: URL(fileURLWithPath: place + "/ledger"))
        var numbers: [String: Int] = [:]
        for line in String(decoding: ledger, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            let number: Int = try #require(Int(parts[1]))
            numbers[String(parts[0])] = number
        }
        return numbers
    }

    /// Lets all be sent; then both sides hold the same, and each attempt landed once at most.
    private static func checkEnd(_ place: String) async throws {
        let writer = SyncingWriter(directory: place, round: 0)
        let (engine, remote) = try await writer.open()
        try await engine.syncUntilQuiet(passesMax: 20)
        let local = try engine.store.read { try $0.find(SyncingWriter.namespace) }
        let there = try remote.read { try $0.find(SyncingWriter.namespace) }
        #expect(local.count == there.count && !local.isEmpty)
        for document in local {
            let other = there.first { $0.documentID == document.documentID }
            #expect(contentEqual(document, other?.withoutVersion))
        }
        for (id, number) in try acknowledged(place) {
            let document = local.first { $0.documentID == .string(id) }
            #expect([number, number + 1].contains { SyncingWriter.matches(document, after: $0) })
        }
        let operations = try remote.changes(after: 0, limit: 1_000_000).changes
            .compactMap { $0.comment.flatMap(OperationID.init) }
        #expect(operations.count > Self.kills && Set(operations).count == operations.count)
        try await engine.release()
        engine.store.close()
        remote.close()
    }
}

/// A remote that nobody asks.
private struct NoRemote: Remote {
    func collection(_ namespace: Namespace) -> any RemoteCollection {
        preconditionFailure("nothing is to be asked of the remote")
    }
}

/// Writes, deletes, inserts and syncs, beside somebody who edits the remote; notes each write of its
/// own in a ledger once it is acknowledged.
struct SyncingWriter {
    static let namespace = Namespace("app", "items")

    let directory: String
    let round: Int

    /// Every seventh write of a document deletes it.
    static func matches(_ document: BSONDocument?, after number: Int) -> Bool {
        number % 7 == 0 ? document == nil : document?["a"] == .int64(Int64(number))
    }

    func open() async throws -> (SyncEngine, DocumentStore) {
        let options = DocumentStore.Options(
            durability: round.isMultiple(of: 2) ? .full : .normal,
            changeHistory: .keep(changesMax: 1_000_000))
        let remote = try DocumentStore(at: .file(directory + "/remote.store"), options: options)
        let store = try DocumentStore(
            at: .file(directory + "/local.store"),
            options: .init(durability: round.isMultiple(of: 2) ? .full : .normal))
        let engine = try SyncEngine(store: store, remote: InProcessRemote(store: remote))
        await engine.collection(Self.namespace).configure(
            conflictHandler: .mergeFields(overlaps: .localWins))
        return (engine, remote)
    }

    func runUntilKilled() async throws {
        let ledger = openFile(directory + "/ledger", O_WRONLY | O_APPEND | O_CREAT, 0o600)
        let (engine, remote) = try await open()
        let items = engine.collection(Self.namespace)
        let delayMS = 1 + round * 13 % 90
        let isStarted = DetachedThread.start {
            let bell = ThreadCondition(())
            // By its own CPU time, so that it gets to work on a busy machine, too.
            let end = Self.processorMS() + delayMS
            while Self.processorMS() < end { bell.pause(milliseconds: 1) }
            // It may wait for the disk when it dies.
            bell.pause(milliseconds: delayMS % 7)
            kill(getpid(), SIGKILL)
        }
        precondition(isStarted)
        var step = round
        while true {
            step += 1
            let id = BSONValue.string("k\(step * 5 % 8)")
            let number = try await write(items, id)
            let line = Array("k\(step * 5 % 8) \(number)\n".utf8)
            precondition(append(ledger, line, line.count) == line.count)
            if step % 3 == 0 { try await engine.syncNow() }
            if step % 4 == 0 { try edit(remote, id, step) }
        }
    }

    /// The CPU time of this process in milliseconds.
    private static func processorMS() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int(time.tv_sec) * 1_000 + Int(time.tv_nsec) / 1_000_000
    }

    /// The next write of a document; says its number.
    private func write(_ items: SyncCollection<BSONDocument>, _ id: BSONValue) async throws -> Int {
        guard let local = try items.findOne(id: id) else {
            let number = try next(id)
            try await items.insertOne(["_id": id, "a": .int64(Int64(number))])
            return number
        }
        let number = Int(local["a"]?.int64Value ?? 0) + 1
        if number % 7 == 0 {
            try await items.deleteOne(["_id": id])
        } else {
            try await items.updateOne(["_id": id], ["$set": ["a": .int64(Int64(number))]])
        }
        return number
    }

    /// The number after a delete: of the ledger, or one more where the delete was not noted.
    private func next(_ id: BSONValue) throws -> Int {
        let ledger = try Data(contentsOf: URL(fileURLWithPath: directory + "/ledger"))
        let name = id.stringValue ?? ""
        let last = String(decoding: ledger, as: UTF8.self).split(separator: "\n")
            .last { $0.hasPrefix(name + " ") }
        guard let last, let number = Int(last.split(separator: " ")[1]) else { return 1 }
        return number % 7 == 0 ? number + 1 : number + 2
    }

    /// Edits a field of its own at the remote, as a tool that unsets the version.
    private func edit(_ remote: DocumentStore, _ id: BSONValue, _ step: Int) throws {
        try remote.write { transaction in
            guard var document = try transaction.get(Self.namespace, id: id)?.withoutVersion else {
                return
            }
            document["f"] = .int64(Int64(step))
            try transaction.put(Self.namespace, document)
        }
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    open(path, flags, mode)
}

private func append(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
