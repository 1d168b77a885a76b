import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// A remote that rules bind gives out nothing that they hide, and says why it refuses a write.
struct RuleScenarios {
    private static let items = Namespace("shop", "items")
    private static let roles = """
        [{"name": "clerk", "apply_when": {"%%user.custom_data.clerk": true},
          "document_filters": {"read": true, "write": {"ownerId": "%%user.id"}},
          "fields": {"ownerId": {"read": true, "write": true},
                     "itemName": {"read": true, "write": true}},
          "additional_fields": {"read": false, "write": false}, "insert": true},
         {"name": "owner-read-write", "apply_when": {},
          "document_filters": {"read": {"ownerId": "%%user.id"}, "write": {"ownerId": "%%user.id"}},
          "read": true, "write": true, "delete": {"locked": {"$ne": true}}}]
        """

    /// A store of a remote, and the remote as one user has it.
    private struct Shop {
        let store: DocumentStore
        let rules: RuleSet
        let remote: InProcessRemote

        init(_ user: RuleUser = RuleUser(id: "ann"), sharing shop: Shop? = nil) throws {
            let options = DocumentStore.Options(changeHistory: .keep(changesMax: 1_000))
            store = try shop?.store ?? DocumentStore(at: .inMemory, options: options)
            rules = try Self.rules(RuleScenarios.roles)
            remote = InProcessRemote(store: store, rules: rules, user: user)
        }

        static func rules(_ roles: String) throws -> RuleSet {
            let text = #"{"database": "shop", "collection": "items", "roles": \#(roles)}"#
            return try RuleSet(
                files: ["data_sources/mongodb-atlas/shop/items/rules.json": Array(text.utf8)])
        }

        var items: any RemoteCollection { remote.collection(RuleScenarios.items) }
        var stored: DocumentCollection<BSONDocument> { store.collection(RuleScenarios.items) }

        func write(
            _ id: BSONValue, _ action: RemoteWrite.Action, number: UInt64 = 1
        ) async throws -> RemoteWriteOutcome {
            let condition = RemoteWrite.Condition(version: .absent)
            let write = RemoteWrite(
                documentID: id, operation: OperationID(instance: 1, sequence: number),
                action: action, condition: condition)
            return try await items.write([write])[0]
        }
    }

    @Test("a reader that waits for changes learns of other rules at once")
    func wakesReader() async throws {
        let shop = try Shop()
        let token = try await shop.items.currentToken()
        let items = shop.items
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // Longer than any test may take.
                _ = try await items.changes(after: token, limit: 1, waitingUpTo: .seconds(100_000))
            }
            for _ in 0..<1_000 { await Task.yield() }
            do {
                let none = try Shop.rules(#"[{"name": "none", "apply_when": {}}]"#)
                shop.remote.use(none, for: RuleUser(id: "ann"))
            } catch {
                Issue.record(error)
            }
            let result = await group.nextResult()
            #expect {
                try result?.get()
            } throws: {
                ($0 as? RemoteError)?.errorClass == .historyLost
            }
        }
    }

    @Test("who may read a document may give it its first version, and nothing else")
    func claims() async throws {
        let reader = """
            [{"name": "reader", "apply_when": {},
              "document_filters": {"read": {"ownerId": "%%user.id"}, "write": false},
              "fields": {"ownerId": {"read": true}, "secret": {"read": false}},
              "additional_fields": {"read": true}}]
            """
        let shop = try Shop()
        shop.remote.use(try Shop.rules(reader), for: RuleUser(id: "ann"))
        for (id, owner) in [(1, "ann"), (2, "ben"), (3, "ann"), (4, "ann")] as [(Int32, String)] {
            try await shop.stored.insertOne([
                "_id": .int32(id), "ownerId": .string(owner), "secret": "s", "n": 1,
            ])
        }
        let version = DocumentVersion.first(operation: OperationID(instance: 1, sequence: 1))
        let field = DocumentVersion.fieldName
        func set(_ id: Int32, _ values: BSONDocument) async throws -> RemoteWriteOutcome {
            try await shop.write(.int32(id), .update(set: values, unset: []))
        }
        #expect(try await set(1, [field: .document(version.document)]) == .applied)
        let claimed = try shop.stored.findOne(id: 1)
        #expect(claimed?["secret"] == "s" && claimed?[field] == .document(version.document))
        // Not once more, not with other fields, not one that nobody could sync, not one unseen.
        #expect(try await set(1, [field: .document(version.document)]) == .notMatched)
        #expect(
            Self.refused(try await set(3, [field: .document(version.document), "n": 2])) != nil)
        let bad: [BSONValue] = [
            1, ["spv": 2], ["spv": 1, "id": "x", "v": .int64(0)],
            ["spv": 1, "id": "x", "v": .int64(7), "op": .binary(BSONBinary([1], subtype: 0))],
        ]
        for bad in bad {
            #expect(try await set(3, [field: bad]) != .applied)
        }
        #expect(try await set(2, [field: .document(version.document)]) != .applied)
        let third: BSONDocument = ["_id": 3, "ownerId": "ann", "secret": "s", "n": 1]
        #expect(try shop.stored.findOne(id: 3) == third)
    }

    @Test("a sync of documents that the user may only read is denied nothing", arguments: [1, 3])
    func readerSyncs(count: Int) async throws {
        let reader = """
            [{"name": "reader", "apply_when": {},
              "document_filters": {"read": true, "write": false}, "read": true, "write": false}]
            """
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 1_000))
        let store = try DocumentStore(at: .inMemory, options: options)
        let denials = Locked(0)
        let remote = InProcessRemote(
            store: store,
            policy: RuleAccessPolicy(try Shop.rules(reader), RuleUser(id: "ann")) { _ in
                denials.withLock { $0 += 1 }
            })
        let ids = (0..<count).map { BSONValue.int32(Int32($0)) }
        for id in ids { try await store.collection(Self.items).insertOne(["_id": id]) }
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        let items = engine.collection(Self.items)
        try await items.sync(ids: ids)
        try await engine.syncUntilQuiet()
        #expect(denials.withLock { $0 } == 0)
        #expect(try await items.status() == SyncStatus(synced: count))
        #expect(try items.find().count() == count)
    }

    private static func refused(_ outcome: RemoteWriteOutcome) -> CompensatingWrite? {
        guard case .failed(let error) = outcome, error.errorClass == .rejected,
            error.code == CompensatingWrite.code
        else { return nil }
        return error.compensatingWrite
    }

    @Test("Reads give what the user sees, without hidden fields")
    func reading() async throws {
        let shop = try Shop()
        try await shop.stored.insertMany([
            ["_id": 1, "ownerId": "ann", "n": 1], ["_id": 2, "ownerId": "ben", "n": 2],
        ])
        let found = try await shop.items.find(ids: [1, 2, 3])
        #expect(found == [.found(["_id": 1, "ownerId": "ann", "n": 1]), .hidden, .absent])
        let versions = try await shop.items.versions(ids: [1, 2])
        #expect(versions.count == 2 && versions[0] != .absent && versions[1] == .absent)
        let clerk = try Shop(RuleUser(id: "cleo", customData: ["clerk": true]), sharing: shop)
        let shown = try await clerk.items.find(ids: [2])
        #expect(shown == [.found(["_id": 2, "ownerId": "ben"])])
    }

    @Test("An answer that holds as much as it may says nothing of the rest, hidden or not")
    func readingSome() async throws {
        let shop = try Shop()
        try await shop.stored.insertMany([
            ["_id": 1, "ownerId": "ben"], ["_id": 2, "ownerId": "ben"],
            ["_id": 3, "ownerId": "ann"],
            ["_id": 4, "ownerId": "ann"],
        ])
        let found = try await shop.items.find(ids: [5, 1, 2, 3, 4, 6], bytesMax: 1)
        let mine = RemoteLookup.found(["_id": 3, "ownerId": "ann"])
        #expect(found == [.absent, .hidden, nil, mine, nil, nil])
        let all = try await shop.items.find(ids: [5, 1, 2, 3], bytesMax: 1_000)
        #expect(all == [.absent, .hidden, .hidden, mine])
    }

    @Test("A write that is not allowed is told as 231 with its reason, and others stand")
    func writing() async throws {
        let shop = try Shop()
        try await shop.stored.insertMany([
            ["_id": "theirs", "ownerId": "ben", "n": 2], ["_id": "mine", "ownerId": "ann"],
            ["_id": "locked", "ownerId": "ann", "locked": true],
        ])
        let inserted = try await shop.write("a", .insert(["_id": "a", "ownerId": "ann"]))
        #expect(inserted == .applied)
        let other = Self.refused(
            try await shop.write("b", .insert(["_id": "b", "ownerId": "zoe"])))
        #expect(
            other?.reason
                == #"write to "b" in table "items" was denied by write filter in role "owner-read-write""#
        )
        #expect(other?.cause == .writeFilter(isOfResult: false))
        #expect(other?.objectName == "items" && other?.primaryKey == "b")
        #expect(other?.role == "owner-read-write")
        let given = Self.refused(
            try await shop.write("mine", .update(set: ["ownerId": "zoe"], unset: [])))
        #expect(given?.cause == .writeFilter(isOfResult: true))
        let taken = Self.refused(
            try await shop.write("theirs", .insert(["_id": "theirs", "ownerId": "ann"])))
        #expect(taken?.cause == .notAllowed)
        #expect(taken?.reason == #"write to "theirs" in table "items" not allowed"#)
        let locked = Self.refused(try await shop.write("locked", .delete))
        #expect(locked?.cause == .deleteDenied)
        // What is not there for the user cannot be matched either.
        #expect(try await shop.write("theirs", .delete) == .notMatched)
        #expect(try shop.stored.find().count() == 4)
        #expect(try shop.stored.findOne(id: "mine") == ["_id": "mine", "ownerId": "ann"])
    }

    @Test("Writes through a mask keep what is hidden, and name the fields that are closed")
    func masked() async throws {
        let shop = try Shop(RuleUser(id: "cleo", customData: ["clerk": true]))
        try await shop.stored.insertOne(["_id": 1, "ownerId": "cleo", "itemName": "x", "price": 5])
        let done = try await shop.write(
            1, .replace(["_id": 1, "ownerId": "cleo", "itemName": "y"]))
        #expect(done == .applied)
        #expect(try shop.stored.findOne(id: 1)?["price"] == 5)
        #expect(try shop.stored.findOne(id: 1)?["itemName"] == "y")
        let refused = Self.refused(
            try await shop.write(1, .update(set: ["price": 6], unset: []), number: 2))
        #expect(refused?.cause == .fieldsDenied(["price"]))
    }

    @Test("Changes are those of documents that the user sees; leaving the view is a deletion")
    func following() async throws {
        let shop = try Shop()
        let start = try await shop.items.currentToken()
        try await shop.stored.insertMany([
            ["_id": "mine", "ownerId": "ann"], ["_id": "theirs", "ownerId": "ben"],
        ])
        try await shop.stored.updateOne(["_id": "theirs"], ["$set": ["n": 1]])
        try await shop.stored.updateOne(["_id": "theirs"], ["$set": ["ownerId": "ann"]])
        try await shop.stored.updateOne(["_id": "mine"], ["$set": ["ownerId": "ben"]])
        try await shop.stored.deleteOne(["_id": "mine"])
        let batch = try await shop.items.changes(after: start, limit: 10, waitingUpTo: .zero)
        #expect(batch.changes.map(\.documentID) == ["mine", "theirs", "mine"])
        #expect(batch.changes.map(\.isDelete) == [false, false, true])
    }

    @Test("A token got under other rules, or by somebody who sees other things, goes no further")
    func tokens() async throws {
        let shop = try Shop()
        let token = try await shop.items.currentToken()
        try await shop.stored.insertOne(["_id": 1, "ownerId": "ben"])
        let ben = try Shop(RuleUser(id: "ben"), sharing: shop)
        func isLost(_ shop: Shop, _ token: ResumeToken) async -> Bool {
            do throws(RemoteError) {
                _ = try await shop.items.changes(after: token, limit: 10, waitingUpTo: .zero)
                return false
            } catch {
                return error.errorClass == .historyLost
            }
        }
        #expect(await isLost(ben, token))
        // The same rules read again, and the same user in another process, go on.
        #expect(await !isLost(try Shop(sharing: shop), token))
        shop.remote.use(try Shop.rules(Self.roles), for: RuleUser(id: "ann"))
        #expect(await !isLost(shop, token))
        let open = Self.roles.replacing(
            #""read": {"ownerId": "%%user.id"}"#, with: #""read": true"#)
        shop.remote.use(try Shop.rules(open), for: RuleUser(id: "ann"))
        #expect(await isLost(shop, token))
        let plain = try await InProcessRemote(store: shop.store).collection(Self.items)
            .currentToken()
        #expect(await isLost(shop, plain))
    }

    @Test("The engine tells of a refused write as 231, and syncs the other documents")
    func engine() async throws {
        let shop = try Shop()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: shop.remote)
        let items: SyncCollection<BSONDocument> = engine.collection(Self.items)
        let told = Locked<[CompensatingWrite]>([])
        await items.configure(
            conflictHandler: .remoteWins, changeEventListener: { _ in },
            errorListener: { error, _ in
                told.withLock { $0 += error.compensatingWrite.map { [$0] } ?? [] }
            })
        try await items.insertOne(["_id": "good", "ownerId": "ann"])
        try await items.insertOne(["_id": "bad", "ownerId": "someone else"])
        try await engine.syncNow()
        await engine.flushEvents()
        let writes = told.withLock { $0 }
        #expect(writes.map(\.primaryKey) == ["bad"])
        #expect(writes.first?.reason.contains("owner-read-write") == true)
        #expect(try shop.stored.findOne(id: "good") != nil)
        #expect(try shop.stored.findOne(id: "bad") == nil)
    }

    @Test("Rules that change while the engine runs take away and give, and lose nothing")
    func changedRules() async throws {
        let shop = try Shop()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: shop.remote)
        let items: SyncCollection<BSONDocument> = engine.collection(Self.items)
        await items.configure(conflictHandler: .remoteWins)
        try await shop.stored.insertMany([
            ["_id": "mine", "ownerId": "ann"], ["_id": "theirs", "ownerId": "ben"],
        ])
        try await items.sync(ids: ["mine", "theirs"])
        try await engine.syncNow()
        #expect(try items.find([:]).fetch().map { $0["_id"] } == ["mine"])
        shop.remote.use(shop.rules, for: RuleUser(id: "ben"))
        try await items.insertOne(["_id": "new", "ownerId": "ben"])
        try await engine.syncNow()
        #expect(try items.find([:]).fetch().compactMap { $0["_id"] }.contains("theirs"))
        #expect(try !items.find([:]).fetch().compactMap { $0["_id"] }.contains("mine"))
        #expect(try shop.stored.findOne(id: "new") != nil)
        #expect(try shop.stored.findOne(id: "mine") != nil)
    }
}
