internal import BSONStore
internal import StitchSync

/// One run of a fixture: a remote and a device in memory, the steps, and the outcome.
final class FixtureRun: Sendable {
    static let namespace = Namespace("fixture", "documents")

    /// The observations during a run.
    private struct Notes: Sendable {
        var calls: [FixtureExpectation.Call] = []
        var events: [String] = []
        /// The sequence numbers of events, which are redelivered after a kill; each counts once.
        var reported: Set<Int64> = []
        var errors: [String] = []
        /// The steps that happen during the next handler calls.
        var whileAsked: [[FixtureStep]] = []
        var writeCount: UInt64 = 0
    }

    private let fixture: ConflictFixture
    private let world: TestWorld
    private let device: Locked<TestDevice?> = Locked(nil)
    private let notes = Locked(Notes())
    /// The version of the base, once the device has downloaded it.
    private let baseVersion = Locked<DocumentVersion?>(nil)

    init(_ fixture: ConflictFixture) throws {
        self.fixture = fixture
        world = try TestWorld()
    }

    /// Plays the fixture and returns its outcome.
    ///
    /// - Parameters:
    ///   - isWatched: whether the run records the handler's calls. Otherwise a handler with a fixed
    ///     resolution takes the shorter path that it takes in an app.
    ///   - configure: configures the conflict handler.
    func play(
        isWatched: Bool, configure: @escaping TestDevice.Configure
    ) async throws -> FixtureOutcome {
        let asked: EngineProbe.ConflictFound = { [weak self] conflict in
            try await self?.note(conflict)
        }
        let device = try await TestDevice(
            name: "device", remote: world.remote, clock: world.clock, limits: SyncLimits(),
            asked: isWatched ? asked : nil,
            configure: { [weak self] engine in
                try await configure(engine)
                self?.listen(to: engine)
            })
        self.device.withLock { $0 = device }
        try await begin(device)
        for step in fixture.steps { try await play(step) }
        await device.engine.flushEvents()
        return try await outcome(of: device)
    }

    private var collection: SyncCollection<BSONDocument> {
        get throws {
            guard let device = device.withLock({ $0 }) else {
                throw FixtureError("", "the device is not there yet")
            }
            return device.engine.collection(Self.namespace)
        }
    }
}

// MARK: - Beginning

extension FixtureRun {
    /// Brings both sides to the start of the fixture.
    private func begin(_ device: TestDevice) async throws {
        let start = fixture.start
        if var base = start.base {
            if let version = start.baseVersion { base.append(DocumentVersion.fieldName, version) }
            try put(base)
            try await collection.sync(ids: [start.documentID])
            _ = try await device.syncUntilQuiet()
            let version = try remoteDocument().map(VersionField.init)?.version
            baseVersion.withLock { $0 = version }
            await device.engine.flushEvents()
            notes.withLock { notes in
                notes = Notes()
            }
        }
        device.engine.setOnline(false)
        if let edit = Self.change(from: start.base, to: start.local) { try await write(edit) }
        if let edit = Self.change(from: start.base, to: start.remote) {
            try change(edit, start.remoteVersion)
        }
        if start.base == nil && start.local == nil {
            try await collection.sync(ids: [start.documentID])
        }
        await device.engine.flushEvents()
        device.engine.setOnline(true)
    }

    private static func change(
        from base: BSONDocument?, to document: BSONDocument?
    ) -> FixtureStep.Edit? {
        switch (base, document) {
        case (nil, nil): nil
        case (.some, nil): .delete
        case (nil, let document?): .insert(document)
        case (let base?, let document?):
            base.contentEquals(document) ? nil : .replace(document)
        }
    }
}

// MARK: - Steps

extension FixtureRun {
    private func play(_ step: FixtureStep) async throws {
        guard let device = device.withLock({ $0 }) else { return }
        switch step {
        case .local(let edit): try await write(edit)
        case .remote(let edit, let version): try change(edit, version)
        case .network(let isOn): device.engine.setOnline(isOn)
        case .lose(let request, let isAnswer):
            device.network.next(request, isAnswer ? .loseAnswer : .loseRequest)
        case .fail(let request, let name):
            device.network.next(
                request,
                .fail(
                    RemoteError(
                        RemoteError.Class(rawValue: name) ?? .unknown, "as the fixture says")))
        case .loseHistory: device.network.loseHistory()
        case .before(let request, let steps):
            device.network.next(
                request, .interrupt { [weak self] in try await self?.play(all: steps) })
        case .whileAsked(let steps): notes.withLock { $0.whileAsked.append(steps) }
        case .kill(.now): try await device.restart()
        case .kill(.atCommit(let number, let isBefore)):
            device.killInNextPass(atCommit: number, isBefore: isBefore)
        case .sync(nil): _ = try await device.syncUntilQuiet()
        case .sync(let passes?): for _ in 0..<passes { try await device.sync() }
        case .resume: _ = try await collection.resumeSync(of: fixture.documentID)
        }
    }

    private func play(all steps: [FixtureStep]) async throws {
        for step in steps { try await play(step) }
    }

    /// Changes the document as the app.
    private func write(_ edit: FixtureStep.Edit) async throws {
        let filter: BSONDocument = ["_id": fixture.documentID]
        switch edit {
        case .insert(let document): try await collection.insertOne(document)
        case .replace(let document): try await collection.replaceOne(filter, document)
        case .update(let update): try await collection.updateOne(filter, update)
        case .delete: try await collection.deleteOne(filter)
        }
    }

    /// Changes the remote's document as another client.
    private func change(_ edit: FixtureStep.Edit, _ version: FixtureVersion) throws {
        let before = try remoteDocument()
        var after: BSONDocument
        switch edit {
        case .delete:
            _ = try world.remoteStore.write { transaction in
                try transaction.deleteOne(
                    Self.namespace, filter: Filter(["_id": fixture.documentID]))
            }
            return
        case .insert(let document), .replace(let document): after = document
        case .update(let update):
            let document = before ?? ["_id": fixture.documentID]
            after = try Update(update).apply(to: document) ?? document
        }
        after = after.withoutVersion
        if after["_id"] == nil {
            var named: BSONDocument = ["_id": fixture.documentID]
            for (key, value) in after { named.append(key, value) }
            after = named
        }
        let field = try self.version(version, after: before.map(VersionField.init) ?? .absent)
        if let field { after.append(DocumentVersion.fieldName, field) }
        try put(after)
    }

    private func version(
        _ version: FixtureVersion, after before: VersionField
    ) throws -> BSONValue? {
        let number = notes.withLock { notes in
            notes.writeCount += 1
            return notes.writeCount
        }
        let operation = OperationID(instance: 1, sequence: number)
        switch version {
        case .same: return before.value
        case .none: return nil
        case .value(let value): return value
        case .fresh: return .document(DocumentVersion.first(operation: operation).document)
        case .next:
            let next =
                before.version?.next(operation: operation)
                ?? DocumentVersion.first(operation: operation)
            return .document(next.document)
        }
    }

    private func put(_ document: BSONDocument) throws {
        try world.remoteStore.write { try $0.put(Self.namespace, document) }
    }

    private func remoteDocument() throws -> BSONDocument? {
        try world.remoteStore.read { try $0.get(Self.namespace, id: fixture.documentID) }
    }
}

// MARK: - Notes

extension FixtureRun {
    private func note(_ conflict: Conflict<BSONDocument>) async throws {
        let steps: [FixtureStep] = notes.withLock { notes in
            notes.calls.append(
                FixtureExpectation.Call(
                    base: conflict.base, local: conflict.local, remote: conflict.remote,
                    mayHaveLanded: conflict.mayHaveLanded))
            return notes.whileAsked.isEmpty ? [] : notes.whileAsked.removeFirst()
        }
        try await play(all: steps)
    }

    private func listen(to engine: SyncEngine) {
        engine.collection(Self.namespace).addChangeEventListener { [weak self] event in
            let pending = event.hasUncommittedWrites ? "pending" : "settled"
            let line = "\(event.reason) \(event.operationType) \(pending)"
            self?.notes.withLock { notes in
                if notes.reported.insert(event.sequence).inserted { notes.events.append(line) }
            }
        }
        engine.addErrorListener { [weak self] error in
            self?.notes.withLock { $0.errors.append(error.code.rawValue) }
        }
    }

    private func outcome(of device: TestDevice) async throws -> FixtureOutcome {
        let engine = device.engine
        let remote = try remoteDocument()
        let notes = notes.withLock { $0 }
        return FixtureOutcome(
            calls: notes.calls,
            local: try collection.findOne(id: fixture.documentID),
            remote: remote?.withoutVersion,
            version: remote.map(VersionField.init) ?? .absent,
            baseVersion: baseVersion.withLock { $0 }, events: notes.events, errors: notes.errors,
            status: try await collection.status(of: fixture.documentID),
            findings: try await engine.verify().map(\.description),
            waiting: device.network.waitingRequests.map { "that of a \($0.rawValue) request" }
                + notes.whileAsked.map { _ in "whileAsked" }
                + (device.waitsForKill ? ["kill"] : []))
    }
}
