import BSONStore
import Testing

@testable import StitchSync

/// What one query is refused holds back no write and no other query.
@Suite(.remotes)
struct SubscriptionRefusalScenarios {
    private static var others: Namespace { Namespace(SyncWorld.database, "others") }
    private static var secret: Namespace { Namespace(SyncWorld.database, "secret") }

    private func world() async throws -> SyncWorld {
        let world = try SyncWorld()
        for number in 1...3 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = .int32(number) }
        }
        let b = try await world.device("B")
        try await b.engine.collection(Self.others).insertMany([["_id": "x"], ["_id": "y"]])
        try await b.engine.syncUntilQuiet()
        _ = world.transcript()
        return world
    }

    /// An engine whose user has no role for the collection `secret`.
    private func device(_ world: SyncWorld) async throws -> (Device, Locked<Bool>) {
        let isRefused = Locked(true)
        let remote = RefusingRemote(
            base: world.remote, namespace: Self.secret, isRefused: { isRefused.withLock { $0 } })
        let device = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote)
        try await device.start()
        return (device, isRefused)
    }

    @Test("a collection that the user may not read holds back no write and no later set")
    func noRole() async throws {
        let world = try await world()
        let (a, isRefused) = try await device(world)
        try await a.subscribe("items", to: ["n": ["$lte": 2]])
        try await a.settle()
        let error = await #expect(throws: SyncError.self) {
            try await a.engine.collection(Self.secret).subscribe(named: "secret")
        }
        #expect(error?.code == .notAuthorized)
        let isError = if case .error = try a.engine.subscriptions.state { true } else { false }
        #expect(isError)
        // Writes go, and nobody who waits for them is told of the other collection.
        try await a.insert(["_id": 9, "n": 1])
        try await a.engine.waitForUpload()
        #expect(try world.remoteDocument(9) == ["_id": 9, "n": 1])
        // Other queries are answered, beside the refused one, after a restart, too.
        try await a.start()
        try await a.engine.collection(Self.others).subscribe(named: "others")
        #expect(try a.engine.collection(Self.others).find().count() == 2)
        #expect(try await a.heldIDs == [1, 2, 9])
        try await a.engine.subscriptions.remove(named: "items")
        #expect(try await a.heldIDs == [])
        // The refused one ends like any other.
        try await a.engine.subscriptions.remove(named: "secret")
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try a.engine.collection(Self.others).find().count() == 2)
        #expect(try await a.sync().errors == [])
        // Once there is a role, the same call works.
        isRefused.withLock { $0 = false }
        try await a.engine.collection(Self.secret).subscribe(named: "secret")
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try await a.engine.verify() == [])
    }

    /// What servers answer to what they never allow, or never end in time.
    private static let lastingErrors = [
        RemoteError(.unknown, code: 8000, "user is not allowed to do action [find]"),
        RemoteError(.retryable, code: 50, "operation exceeded time limit"),
    ]

    /// A device for which failures count however quickly they follow each other.
    private func lastingDevice(_ world: SyncWorld, _ remote: RefusingRemote) throws -> Device {
        var limits = SyncLimits()
        limits.failureSpan = .zero
        return Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote, limits: limits)
    }

    @Test("of many queries that are asked for together, only the one that always fails is missing")
    func lastingAmongMany() async throws {
        let world = try await world()
        let remote = RefusingRemote(
            base: world.remote, namespace: SyncWorld.namespace, isRefused: { false },
            refuses: { "\($0)".contains("700") }, filterError: Self.lastingErrors[0])
        let a = try lastingDevice(world, remote)
        try await a.start()
        let queries = try (1...40).map {
            try SubscriptionQuery(a.items.find(["n": .int32($0 == 29 ? 700 : $0)]))
        }
        try await a.engine.subscriptions.update { changes in
            for (number, query) in queries.enumerated() {
                changes.insertOrAssign(query, named: "\(number)")
            }
        }
        for _ in 0..<LastingFailures.countMax { _ = try await a.engine.syncNow() }
        #expect(try a.engine.subscriptions.state == .error(Self.lastingErrors[0].message))
        #expect(try await a.heldIDs == [1, 2, 3])
    }

    @Test("two collections that fail for good are refused, whenever each of them began to fail")
    func lastingCollections() async throws {
        let world = try await world()
        let hidden = Namespace(SyncWorld.database, "hidden")
        let first = RefusingRemote(
            base: world.remote, namespace: Self.secret, isRefused: { true },
            error: Self.lastingErrors[0])
        let a = try lastingDevice(
            world,
            RefusingRemote(
                base: first, namespace: hidden, isRefused: { true }, error: Self.lastingErrors[1]))
        try await a.start()
        let others = a.engine.collection(Self.others)
        let queries = try [Self.secret, Self.others, hidden].map {
            try SubscriptionQuery(a.engine.collection($0).find(["n": 1]))
        }
        try await a.engine.subscriptions.update { $0.insertOrAssign(queries[0], named: "0") }
        for _ in 0..<2 { _ = try await a.engine.syncNow() }
        try await a.engine.subscriptions.update { changes in
            for (number, query) in queries.enumerated() {
                changes.insertOrAssign(query, named: "\(number)")
            }
        }
        try await others.insertOne(["_id": "z", "n": 1])
        for _ in 0..<2 * LastingFailures.countMax { _ = try await a.engine.syncNow() }
        let isError = if case .error = try a.engine.subscriptions.state { true } else { false }
        #expect(isError)
        #expect(try await others.pendingIDs == [])
    }

    @Test(
        "a change in a stopped or forbidden collection holds back no set and no other collection",
        arguments: [true, false])
    func cutCollection(isStopped: Bool) async throws {
        let world = try await world()
        let isRefused = Locked(false)
        let a = try lastingDevice(
            world,
            RefusingRemote(
                base: world.remote, namespace: Self.secret,
                isRefused: { isRefused.withLock { $0 } }))
        try await a.start()
        let cut = a.engine.collection(isStopped ? SyncWorld.namespace : Self.secret)
        let others = a.engine.collection(Self.others)
        await cut.configure(conflictHandler: .remoteWins, droppedCollectionPolicy: .pause)
        try await cut.subscribe(named: "cut")
        try await others.subscribe(named: "others")
        try await cut.insertOne(["_id": "c", "n": 1])
        try await a.engine.waitForUpload()
        if isStopped {
            try world.remoteDocuments.drop()
        } else {
            isRefused.withLock { $0 = true }
        }
        try await cut.updateOne(["_id": "c"], ["$set": ["n": 2]])
        let query = try SubscriptionQuery(others.find(["n": 1]))
        let set = try await a.engine.subscriptions.update {
            $0.insertOrAssign(query, named: "more")
        }
        try await others.insertOne(["_id": "z", "n": 1])
        for _ in 0..<LastingFailures.countMax + 1 { _ = try await a.engine.syncNow() }
        #expect(try a.engine.subscriptions.state(of: set.version) == .complete)
        #expect(try await others.pendingIDs == [])
        #expect(try await cut.pendingIDs == ["c"])
        #expect(try cut.findOne(id: "c")?["n"] == 2)
        if !isStopped { try await checkNewQuery(a, on: cut, others) }
        // Once the collection goes on, its change is sent.
        if isStopped {
            #expect(try await cut.adoptRemote())
        } else {
            isRefused.withLock { $0 = false }
        }
        try await a.engine.syncUntilQuiet()
        #expect(try await cut.pendingIDs == [])
        #expect(try cut.findOne(id: "c")?["n"] == 2)
        #expect(try await a.engine.verify() == [])
    }

    /// Checks that a new query on a forbidden collection is refused, and the other queries of its set are
    /// answered.
    private func checkNewQuery(
        _ a: Device, on cut: SyncCollection<BSONDocument>, _ others: SyncCollection<BSONDocument>
    ) async throws {
        let new = try [
            SubscriptionQuery(cut.find(["n": 7])), SubscriptionQuery(others.find(["n": 2])),
        ]
        let last = try await a.engine.subscriptions.update { changes in
            for (number, query) in new.enumerated() {
                changes.insertOrAssign(query, named: "new\(number)")
            }
        }
        try await others.insertOne(["_id": "w", "n": 2])
        for _ in 0..<3 { _ = try await a.engine.syncNow() }
        let state = try a.engine.subscriptions.state(of: last.version)
        let isError = if case .error = state { true } else { false }
        #expect(isError, "\(state as Any)")
        #expect(try await others.pendingIDs == [])
    }

    @Test(
        "a write keeps its place before a set, although its collection was refused meanwhile",
        arguments: [1, LastingFailures.countMax + 1])
    func placeBeforeSet(refusals: Int) async throws {
        let world = try await world()
        let isRefused = Locked(false)
        let remote = RefusingRemote(
            base: world.remote, namespace: SyncWorld.namespace,
            isRefused: { isRefused.withLock { $0 } })
        let a = try lastingDevice(world, remote)
        try await a.start()
        try await a.subscribe("s", to: ["n": ["$lte": 3]])
        try await a.settle()
        try await a.set(1, ["m": 1])
        try await a.engine.subscriptions.update { $0.remove(named: "s") }
        isRefused.withLock { $0 = true }
        for _ in 0..<refusals { _ = try await a.engine.syncNow() }
        isRefused.withLock { $0 = false }
        try await a.settle()
        #expect(try await a.items.rejectedWrites.all().isEmpty)
        #expect(try world.remoteDocument(1)?["m"] == 1)
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try await a.heldIDs == [])
    }

    @Test("documents of a query that was refused after a gap arrive once it is answered")
    func refusedAfterGap() async throws {
        let world = try await world()
        let fails = Locked(false)
        let remote = RefusingRemote(
            base: world.remote, namespace: SyncWorld.namespace, isRefused: { false },
            refuses: { "\($0)".contains("slow") && fails.withLock { $0 } },
            filterError: Self.lastingErrors[1])
        let a = try lastingDevice(world, remote)
        try await a.start()
        let queries = try [["n": ["$lte": 2]], ["slow": 1]].map {
            try SubscriptionQuery(a.items.find($0))
        }
        try await a.engine.subscriptions.update { changes in
            for (number, query) in queries.enumerated() {
                changes.insertOrAssign(query, named: "\(number)")
            }
        }
        try await a.engine.syncUntilQuiet()
        #expect(try a.engine.subscriptions.state == .complete)
        try world.foreign(10) { $0["n"] = 1 }
        try world.foreign(11) { $0["slow"] = 1 }
        let isLost = Locked(true)
        world.remote.before { call in
            guard call.kind == .changes else { return }
            let isFirst = isLost.withLock { isLost in
                defer { isLost = false }
                return isLost
            }
            if isFirst { throw RemoteError(.historyLost, code: 286, "gone") }
        }
        fails.withLock { $0 = true }
        for _ in 0...LastingFailures.countMax { _ = try await a.engine.syncNow() }
        world.remote.before(nil)
        #expect(try await a.heldIDs == [1, 2, 10])
        // A new start asks again, and is not held up by the answer.
        try await a.start()
        #expect(try await a.sync().errors == [])
        try await a.insert(["_id": 12, "n": 1])
        try await a.settle()
        #expect(try world.remoteDocument(12) != nil)
        fails.withLock { $0 = false }
        try await a.settle()
        #expect(try await a.heldIDs == [1, 2, 10, 11, 12])
    }

    @Test("failures of a moment are no refusal, however many they are")
    func disturbance() async throws {
        let world = try await world()
        let fails = Locked(true)
        let remote = RefusingRemote(
            base: world.remote, namespace: SyncWorld.namespace, isRefused: { false },
            refuses: { _ in fails.withLock { $0 } }, filterError: Self.lastingErrors[0])
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote)
        try await a.start()
        let query = try SubscriptionQuery(a.items.find(["n": ["$lte": 2]]))
        try await a.engine.subscriptions.update { $0.insertOrAssign(query, named: "few") }
        for _ in 0...2 * LastingFailures.countMax { _ = try await a.engine.syncNow() }
        fails.withLock { $0 = false }
        try await a.engine.syncUntilQuiet()
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try await a.heldIDs == [1, 2])
    }

    @Test(
        "a collection or a query that fails pass after pass holds back no write and no other query",
        arguments: lastingErrors, [true, false])
    func lastingFailure(error: RemoteError, ofCollection: Bool) async throws {
        let world = try await world()
        let fails = Locked(true)
        let remote = RefusingRemote(
            base: world.remote, namespace: ofCollection ? Self.secret : SyncWorld.namespace,
            isRefused: { ofCollection && fails.withLock { $0 } },
            refuses: { filter in "\(filter)".contains("slow") && fails.withLock { $0 } },
            error: error, filterError: error)
        let a = try lastingDevice(world, remote)
        try await a.start()
        let others = a.engine.collection(Self.others)
        let bad = try SubscriptionQuery(
            a.engine.collection(ofCollection ? Self.secret : SyncWorld.namespace).find(["slow": 1]))
        let good = try SubscriptionQuery(others.find())
        try await a.engine.subscriptions.update { changes in
            changes.insertOrAssign(bad, named: "bad")
            changes.insertOrAssign(good, named: "others")
        }
        try await others.insertOne(["_id": "z"])
        func isRefused() throws -> Bool {
            if case .error = try a.engine.subscriptions.state { true } else { false }
        }
        // What fails a few times may be a bad moment: the set waits.
        for _ in 1..<LastingFailures.countMax { _ = try await a.engine.syncNow() }
        #expect(try !isRefused())
        _ = try await a.engine.syncNow()
        #expect(try isRefused())
        try await a.engine.syncUntilQuiet()
        #expect(try others.find().count() == 3)
        #expect(try await others.pendingIDs == [])
        // The next set asks again.
        fails.withLock { $0 = false }
        try await a.engine.subscriptions.update { _ in }
        try await a.engine.syncUntilQuiet()
        #expect(try a.engine.subscriptions.state == .complete)
    }

    @Test("of one set the remote answers what it may; a changed query keeps its former documents")
    func partly() async throws {
        let world = try await world()
        let a = try await world.device("A")
        try await a.subscribe("s", to: ["n": 1])
        try await a.subscribe("t", to: ["n": 2])
        try await a.settle()
        let others = a.engine.collection(Self.others)
        let bad = Locked(0)
        world.remote.before { call in
            guard call.kind == .query else { return }
            let isFirst = bad.withLock { bad in
                bad += 1
                return bad == 1
            }
            if isFirst { throw RemoteError(.rejected, code: 2, "not a field") }
        }
        let query = try SubscriptionQuery(a.items.find(["n": ["$gt": 2]]))
        let all = try SubscriptionQuery(others.find())
        let set = try await a.engine.subscriptions.update { changes in
            changes.insertOrAssign(query, named: "s")
            changes.remove(named: "t")
            changes.insertOrAssign(all, named: "others")
        }
        try await a.settle()
        world.remote.before(nil)
        #expect(try a.engine.subscriptions.state(of: set.version) == .error("not a field"))
        #expect(try await a.heldIDs == [1])
        #expect(try others.find().count() == 2)
        // Both follow the remote.
        try world.foreign(1) { $0["m"] = 1 }
        try world.foreign(2) { $0["n"] = 1 }
        try await a.settle()
        #expect(try await a.local(1)?["m"] == 1)
        #expect(try await a.heldIDs == [1, 2])
        // The next set asks for the refused query only.
        try await a.engine.subscriptions.update { _ in }
        try await a.settle()
        #expect(try a.engine.subscriptions.state == .complete)
        #expect(try await a.heldIDs == [3])
        #expect(try others.find().count() == 2)
    }

    @Test("of many queries that are asked for together only the refused one is missing")
    func amongMany() async throws {
        let world = try await world()
        let base = world.remote
        let remote = RefusingRemote(
            base: base, namespace: SyncWorld.namespace, isRefused: { false },
            refuses: { "\($0)".contains("7") })
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote)
        try await a.start()
        let queries = try (1...20).map {
            try SubscriptionQuery(a.items.find(["n": .int32($0 == 10 ? 7_000 : $0 % 4)]))
        }
        try await a.engine.subscriptions.update { changes in
            for (number, query) in queries.enumerated() {
                changes.insertOrAssign(query, named: "\(number)")
            }
        }
        try await a.settle()
        #expect(try a.engine.subscriptions.state == .error("no"))
        #expect(try await a.heldIDs == [1, 2, 3])
    }

    @Test("a view ends at once with an error, and says why")
    func view() async throws {
        let world = try await world()
        let a = try await world.device("A")
        let name = Namespace(SyncWorld.database, "view")
        guard let stored = world.remoteDocuments as? StoredRemoteDocuments else { return }
        try stored.store.createCollection(name, ["viewOn": "items", "pipeline": []])
        try await a.subscribe(to: ["n": 1])
        let error = await #expect(throws: SyncError.self) {
            try await a.engine.collection(name).subscribe()
        }
        #expect(error?.code == .subscriptionFailed)
        #expect(error?.message.contains("is a view, not a collection") == true)
        #expect(try await a.heldIDs == [1])
        try await a.insert(["_id": 9, "n": 1])
        try await a.engine.waitForUpload()
        #expect(try world.remoteDocument(9) != nil)
    }

    @Test("a set that is coming gives way to a later one, which keeps what is downloaded")
    func givesWay() async throws {
        let world = try await world()
        let limits = {
            var limits = SyncLimits()
            limits.batchDocuments = 1
            return limits
        }()
        let a = try await world.device("A", limits: limits)
        let asked = Locked(0)
        world.remote.before { call in
            guard call.kind == .query else { return }
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count > 2 { throw RemoteError(.retryable, "down") }
        }
        let first = try await a.subscribe("low", to: ["n": ["$lte": 3]])
        try await a.sync()
        #expect(try a.engine.subscriptions.state(of: first) == .bootstrapping)
        #expect(try a.rowCount("sync_staged") == 2)
        try world.foreign(1) { $0["m"] = 1 }
        try world.foreignDelete(2)
        world.remote.before(nil)
        let fetched = Locked<[BSONValue]>([])
        world.remote.before { call in
            if call.kind == .find { fetched.withLock { $0 += call.documentIDs } }
        }
        let second = try await a.subscribe("low", to: ["n": ["$lte": 4]])
        try await a.settle()
        world.remote.before(nil)
        #expect(try a.engine.subscriptions.state(of: first) == .superseded)
        #expect(try a.engine.subscriptions.state(of: second) == .complete)
        #expect(try await a.heldIDs == [1, 3])
        #expect(try await a.local(1)?["m"] == 1)
        // Those that changed, for the history, and the one that was not here.
        #expect(fetched.withLock { Set($0) } == [1, 2, 3])
    }

    @Test("a wider or rolling query fetches only what the device does not have")
    func widening() async throws {
        let world = try await world()
        for number in 10..<40 as Range<Int32> {
            try world.foreign(.int32(number)) { $0["day"] = .int32(number) }
        }
        let a = try await world.device("A")
        try await a.subscribe("days", to: ["day": ["$in": [.int32(10), .int32(11)]]])
        try await a.settle()
        try await a.subscribe("days", to: ["day": ["$gte": 12]])
        try await a.settle()
        #expect(try await a.heldIDs.count == 28)
        let fetched = Locked<[BSONValue]>([])
        world.remote.before { call in
            if call.kind == .find { fetched.withLock { $0 += call.documentIDs } }
        }
        let bytes = a.engine.transfers.current.progress.downloadedBytes
        try world.foreign(50) { $0["day"] = 50 }
        try world.foreign(20) { $0["m"] = 1 }
        try await a.subscribe("days", to: ["day": ["$gte": 13]])
        try await a.settle()
        #expect(try await a.heldIDs.count == 28)
        #expect(try await a.local(20)?["m"] == 1)
        #expect(fetched.withLock { Set($0) } == [20, 50])
        #expect(a.engine.transfers.current.progress.downloadedBytes - bytes < 1_000)
        // A gap in the history costs versions, too.
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.settle()
        #expect(fetched.withLock { Set($0) } == [20, 50])
        world.remote.before(nil)
        #expect(try await a.engine.verify() == [])
    }

    @Test("subscriptions of one document each are asked for together")
    func oneDocumentEach() async throws {
        let world = try await world()
        let a = try await world.device("A")
        let (requests, count) = (Locked(0), 150)
        world.remote.before { call in
            if call.kind == .query { requests.withLock { $0 += 1 } }
        }
        for number in 0..<count {
            try await a.items.subscribe(
                to: ["_id": .int32(Int32(number))], named: "\(number)", waitForSync: .never)
        }
        // Sets with no write in between are kept as one.
        #expect(try a.rowCount("sync_sets") == 1)
        #expect(try a.engine.subscriptions.state(of: 1) == .pending)
        try await a.settle()
        #expect(requests.withLock { $0 } == 1)
        #expect(try await a.heldIDs == [1, 2, 3])
        #expect(try a.engine.subscriptions.state(of: 1) == .superseded)
        #expect(try a.engine.subscriptions.count == count)
        world.remote.before(nil)
    }

    @Test("subscriptions that alternate between two collections and fields are asked for together")
    func alternating() async throws {
        let world = try await world()
        let a = try await world.device("A")
        let others = a.engine.collection(Self.others)
        let (requests, count) = (Locked(0), 40)
        world.remote.before { call in
            if call.kind == .query || call.kind == .versions { requests.withLock { $0 += 1 } }
        }
        let items = a.items
        try await a.engine.subscriptions.update { changes in
            for number in 0..<count {
                let value = BSONValue.int32(Int32(number))
                try changes.append(in: items, where: ["_id": value])
                try changes.append(in: others, where: ["_id": number == 7 ? "x" : value])
                try changes.append(in: items, where: ["m": value])
            }
        }
        try await a.settle()
        #expect(requests.withLock { $0 } == 3)
        #expect(try await a.heldIDs == [1, 2, 3])
        #expect(try others.find().count() == 1)
        #expect(try a.engine.subscriptions.state == .complete)
        // A gap in the history asks again for what may be new.
        requests.withLock { $0 = 0 }
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.settle()
        // The versions of the documents that are here, and one request for each field.
        #expect(requests.withLock { $0 } == 3)
        world.remote.before(nil)
    }

    @Test("many refused queries cost few commits, however long the list of them grows")
    func manyRefused() async throws {
        let world = try await world()
        let remote = RefusingRemote(
            base: world.remote, namespace: SyncWorld.namespace, isRefused: { false },
            refuses: { filter in !filter.isEmpty })
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote)
        try await a.start()
        let (items, count) = (a.items, 200)
        try await a.engine.subscriptions.update { changes in
            for number in 0..<count {
                try changes.append(in: items, where: ["n": .int32(Int32(number))])
            }
        }
        let before = a.store.commitCount
        try await a.sync()
        #expect(a.store.commitCount - before < 50)
        #expect(try a.engine.subscriptions.state == .error("no"))
    }
}

/// Who ends a subscription is not kept waiting by what only others can end.
@Suite(.remotes)
struct SubscriptionRemovalScenarios {
    @Test("without run() and without a network a removal says what it waits for, and is kept")
    func noNetwork() async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        let a = try await world.device("A")
        try await a.subscribe("s", to: ["n": 1])
        try await a.settle()
        try await a.set(1, ["x": 1])
        for (isOnline, code) in [(false, SyncError.Code.offline), (true, .remoteUnavailable)] {
            a.engine.setOnline(isOnline)
            world.remote.before { _ in throw RemoteError(.retryable, "down") }
            let error = await #expect(throws: SyncError.self) {
                try await a.engine.subscriptions.removeAll()
            }
            #expect(error?.code == code)
            #expect(error?.message.contains("first sends changes from before") == true)
        }
        #expect(try a.engine.subscriptions.count == 0)
        #expect(try await a.items.unsubscribe(from: ["n": 1]) == false)
        world.remote.before(nil)
        try await a.engine.subscriptions.removeAll()
        #expect(try await a.heldIDs == [])
        #expect(try world.remoteDocument(1)?["x"] == 1)
    }

    /// The calls that remove one subscription, with their defaults.
    enum Removal: CaseIterable, Sendable {
        case named, found, unsubscribe

        func run(_ a: Device) async throws {
            let all = a.engine.subscriptions
            switch self {
            case .named: try await all.remove(named: "s")
            case .found:
                let found = try #require(try all.first(named: "s"))
                try await all.remove(found)
            case .unsubscribe: try await a.items.unsubscribe(from: ["n": 1])
            }
        }
    }

    @Test(
        "without run() and without a network each removal ends, says why, and is kept",
        .timeLimit(.minutes(5)), arguments: Removal.allCases, [false, true])
    func oneWithoutNetwork(_ removal: Removal, isOnline: Bool) async throws {
        let world = try SyncWorld()
        try world.foreign(1) { $0["n"] = 1 }
        try world.foreign(2) { $0["n"] = 2 }
        let a = try await world.device("A")
        try await a.subscribe(removal != .unsubscribe ? "s" : nil, to: ["n": 1])
        try await a.subscribe("other", to: ["n": 2])
        try await a.settle()
        try await a.set(1, ["x": 1])
        a.engine.setOnline(isOnline)
        world.remote.before { _ in throw RemoteError(.retryable, "down") }
        let error = await #expect(throws: SyncError.self) { try await removal.run(a) }
        #expect(error?.code == (isOnline ? .remoteUnavailable : .offline))
        #expect(try a.engine.subscriptions.latest.subscriptions.map(\.name) == ["other"])
        world.remote.before(nil)
        a.engine.setOnline(true)
        try await a.settle()
        #expect(try await a.heldIDs == [2])
        #expect(try world.remoteDocument(1)?["x"] == 1)
    }

    @Test("passes that fail without an error listener are told once on the log")
    func unheard() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: world.remote)
        let lines = Locked<[SyncLogLine]>([])
        engine.setLogHandler { line in lines.withLock { $0.append(line) } }
        try await engine.collection(SyncWorld.namespace).insertOne(["_id": 1])
        world.remote.before { _ in throw RemoteError(.retryable, "down") }
        for _ in 0..<3 { try await engine.syncNow() }
        let told = lines.withLock { $0 }
        #expect(told.map(\.level) == [.warning])
        #expect(told.first?.text.contains("no error listener is configured") == true)
        world.remote.before(nil)
    }
}

/// Refuses one collection as a server refuses a user without a role for it, or some filters.
private struct RefusingRemote: Remote {
    let base: any Remote
    let namespace: Namespace
    let isRefused: @Sendable () -> Bool
    var refuses: @Sendable (BSONDocument) -> Bool = { _ in false }
    var error = RemoteError(.rejected, code: 13, "not authorized on app to execute command")
    var filterError = RemoteError(.rejected, code: 2, "no")

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        guard namespace == self.namespace else { return base.collection(namespace) }
        return RefusingCollection(base: base.collection(namespace), remote: self)
    }
}

private struct RefusingCollection: RemoteCollection {
    let base: any RemoteCollection
    let remote: RefusingRemote

    private func check(_ filter: BSONDocument = [:]) throws(RemoteError) {
        if remote.isRefused() { throw remote.error }
        if remote.refuses(filter) { throw remote.filterError }
    }

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try check()
        return try await base.find(ids: ids)
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try check(filter)
        return try await base.find(matching: filter, after: last, limit: limit)
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try check()
        return try await base.versions(ids: ids)
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        try check()
        return try await base.write(writes)
    }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        try check()
        return try await base.identity()
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try check()
        return try await base.currentToken()
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try check()
        return try await base.changes(after: token, limit: limit, waitingUpTo: wait)
    }
}
