import BSONStore
import StitchSync

/// One device of the demo, in a process of its own.
struct DemoDevice {
    private let device: DemoPlan.Device
    private let store: DocumentStore
    private let session: SyncSession
    private let console: Console
    private let refusal: Refusal
    /// Receives the number of documents of the current order that are stored or transferred.
    private let report: ProgressMeter.Report

    /// Opens the device's store and the remote's.
    ///
    /// - Parameters:
    ///   - remote: the remote's file, or its server's URI.
    ///   - refusing: the document whose conflict the handler refuses until it is resumed.
    init(
        _ device: DemoPlan.Device, files: DemoFiles, remote: String, refusing: BSONValue?,
        console: Console,
        report: @escaping ProgressMeter.Report
    ) async throws {
        self.device = device
        self.console = console
        self.report = report
        store = try DocumentStore(
            at: .file(files.store(of: device)), options: .init(cacheKiB: SyncSession.cacheKiB))
        let refusal = Refusal(of: refusing)
        self.refusal = refusal
        session = try await SyncSession(
            store: store, remote: remote, namespace: DemoFiles.namespace,
            conflictHandler: ConflictHandler { conflict in
                try refusal.check(conflict.documentID)
                return FieldMerge.resolution(of: conflict)
            })
        session.setOnline(false)
    }

    /// Carries out one order.
    func carryOut(_ order: DeviceOrder) async throws -> DeviceTally {
        var tally = DeviceTally()
        switch order {
        case .importFile(let path): try importFile(path, &tally)
        case .edit(let plan): try await edit(plan, &tally)
        case .sync: try await sync(&tally, report)
        case .syncWithoutAnswer:
            try await sync(&tally) { [report] (count) throws(CommandError) in
                try report(count)
                try Self.waitForTheEnd()
            }
        case .resumePaused: try await resumePaused()
        case .status: break
        }
        tally.pending = try await session.collection.status().pending
        tally.memoryKiB = MemoryUsage.largestKiB
        return tally
    }

    /// Closes the stores.
    func close() async { await session.close() }

    private func importFile(_ path: String, _ tally: inout DeviceTally) throws {
        let descriptor = try Descriptor.reading(path)
        defer { descriptor.close() }
        let importer = Importer(
            descriptor, name: path, into: DemoFiles.namespace, console: console)
        let imported = try importer.importValid(into: store)
        tally.imported = imported.imported
        tally.rejected = imported.rejected
    }

    private func sync(
        _ tally: inout DeviceTally, _ report: @escaping ProgressMeter.Report
    ) async throws {
        session.setOnline(true)
        defer { session.setOnline(false) }
        _ = try await session.adopt()
        let outcome = try await session.run(
            label: "    syncing", on: console.error, report: report)
        tally.sent = outcome.report.uploaded
        tally.taken = outcome.report.taken + outcome.report.removed
        tally.conflicts = outcome.report.conflicts
        tally.paused = outcome.report.paused
        tally.passes = outcome.passes
        tally.errors = outcome.errors
    }

    /// Waits for an order that never arrives, and so withholds the reply from the engine.
    private static func waitForTheEnd() throws(CommandError) {
        var orders = LineReader(.input)
        _ = try orders.next()
    }

    private func resumePaused() async throws {
        refusal.lift()
        for id in try await session.collection.pausedIDs {
            try await session.collection.resumeSync(of: id)
        }
    }
}

// MARK: - Writing offline

extension DemoDevice {
    /// Carries out the remaining steps of the plan, one document after another.
    private func edit(_ plan: String, _ tally: inout DeviceTally) async throws {
        var reader = try PlanReader(plan)
        defer { reader.close() }
        var bar = ProgressBar(
            "    writing", unit: "documents of the plan", total: reader.count, on: console.error)
        while let (place, id) = try reader.next() {
            if try await edit(id, at: place) {
                tally.written += 1
                try report(tally.written)
            }
            try bar.show(place + 1)
        }
        for document in DemoPlan.newDocuments(of: device, among: reader.count)
        where try local(document["_id"] ?? .null) == nil {
            try await session.collection.insertOne(document)
            tally.written += 1
        }
        try bar.finish()
    }

    /// Carries out one step; returns whether there was something to do.
    private func edit(_ id: BSONValue, at place: Int) async throws -> Bool {
        guard let document = try local(id),
            document[path: "\(DemoPlan.markField).\(device.mark)"] == nil
        else { return false }
        switch DemoPlan.action(of: device, on: document, at: place) {
        case .leave: return false
        case .update(let update):
            try await session.collection.updateOne(["_id": id], update)
        case .delete:
            try await session.collection.deleteOne(["_id": id])
        }
        return true
    }

    private func local(_ id: BSONValue) throws -> BSONDocument? {
        try store.read { try $0.get(DemoFiles.namespace, id: id) }
    }
}

/// A failure of the conflict handler for one document, until it is lifted.
private final class Refusal: Sendable {
    private let id: Locked<BSONValue?>

    init(of id: BSONValue?) { self.id = Locked(id) }

    func check(_ id: BSONValue) throws(CommandError) {
        guard id == self.id.withLock({ $0 }) else { return }
        throw CommandError("the demo's handler fails for this document until it is resumed")
    }

    func lift() { id.withLock { $0 = nil } }
}
