#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// What a store is made to do while calls fail, and what has to be there afterwards.
enum FailureWorkload: String, CaseIterable {
    case openAndInsert
    case inserts
    case update
    case largeDocuments
    case deleteAndCompact
    /// Bodies that go on after an error, with savepoints and without.
    case undeterred
    /// Several callers' writes that are committed together.
    case grouped

    private static let things = Namespace("app", "things")
    private static let text = String(repeating: "z", count: 400)
    private static let longText = String(repeating: "z", count: 40_000)

    /// What is there for certain; a write that failed may be there or not.
    private struct Expectation {
        var values: [Int32: Int32] = [:]
        var unsure: Set<Int32> = []
    }

    /// Lets calls fail by a plan, then compares; tells whether the plan's call was reached.
    func run(_ plan: FailingFileSystem.Plan) throws -> Bool {
        let directory = try TemporaryDirectory()
        var options = DocumentStore.Options(
            changeHistory: .keep(changesMax: 1_000), cacheKiB: 64)
        options.fileSystem = FailingFileSystem.name
        #expect(FailingFileSystem.layer)
        var expected = Expectation()
        if self != .openAndInsert { try fill(directory.file(), options, &expected) }
        var store: DocumentStore?
        let (_, failures) = FailingFileSystem.failing(plan) {
            do {
                let opened = try DocumentStore(at: .file(directory.file()), options: options)
                store = opened
                #expect(try Self.hasLog(directory.file()), "opened without a write-ahead log")
                work(opened, &expected)
            } catch {
                Self.expectTyped(error)
            }
        }
        // The same store goes on once the calls do.
        if let store { try Self.check(store, expected) }
        store?.close()
        let again = try DocumentStore(at: .file(directory.file()), options: options)
        defer { again.close() }
        try Self.check(again, expected)
        return failures > 0
    }

    /// Whether the header says that a log is used: both version numbers are 2.
    ///
    /// Source: https://www.sqlite.org/fileformat.html, "File format version numbers".
    private static func hasLog(_ path: String) throws -> Bool {
        let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(20)
        return header.suffix(2).elementsEqual([2, 2])
    }

    private func fill(
        _ path: String, _ options: DocumentStore.Options, _ expected: inout Expectation
    ) throws {
        var options = options
        options.durability = .normal
        let store = try DocumentStore(at: .file(path), options: options)
        let collection = store.collection(Self.things)
        try collection.createIndex(["n": 1])
        try collection.createIndex(["tags": 1, "n": -1])
        try collection.insertMany((Int32(0)..<20).map { document($0, 0) })
        for id in Int32(0)..<20 { expected.values[id] = 0 }
        store.close()
    }

    private func document(_ id: Int32, _ n: Int32) -> BSONDocument {
        [
            "_id": .int32(id), "n": .int32(n), "tags": [.int32(id), .int32(n), "tag"],
            "text": .string(self == .largeDocuments ? Self.longText : Self.text),
        ]
    }

    private func work(_ store: DocumentStore, _ expected: inout Expectation) {
        for id in Int32(0)..<12 {
            switch self {
            case .openAndInsert, .inserts, .largeDocuments:
                attempt(store, 100 + id, 7, &expected) {
                    try $0.insert(Self.things, document(100 + id, 7))
                }
            case .update:
                attempt(store, id, 5, &expected) { try $0.put(Self.things, document(id, 5)) }
            case .deleteAndCompact:
                attempt(store, id, nil, &expected) { try $0.remove(Self.things, id: .int32(id)) }
            case .undeterred: goOn(store, id, &expected)
            case .grouped: group(store, id, &expected)
            }
        }
        guard self == .deleteAndCompact else { return }
        do { try store.compact() } catch { Self.expectTyped(error) }
    }

    private func attempt(
        _ store: DocumentStore, _ id: Int32, _ value: Int32?, _ expected: inout Expectation,
        _ body: (WriteTransaction) throws -> Void
    ) {
        do {
            try store.write(body)
            expected.values[id] = value
            expected.unsure.remove(id)
        } catch {
            Self.expectTyped(error)
            expected.unsure.insert(id)
        }
    }

    /// Of a write whose body passes over errors the last part decides.
    private func goOn(_ store: DocumentStore, _ id: Int32, _ expected: inout Expectation) {
        struct Regret: Error {}
        expected.unsure.formUnion([200 + id, 300 + id])
        attempt(store, 400 + id, 2, &expected) { transaction in
            do { try transaction.insert(Self.things, document(200 + id, 1)) } catch {
                Self.expectTyped(error)
            }
            do {
                try transaction.savepoint {
                    try transaction.insert(Self.things, document(500 + id, 1))
                    try transaction.remove(Self.things, id: .int32(id))
                    throw Regret()
                }
            } catch is Regret {
                // As it was meant.
            } catch {
                Self.expectTyped(error)
            }
            do {
                _ = try transaction.savepoint {
                    try transaction.insert(Self.things, document(300 + id, 1))
                }
            } catch {
                Self.expectTyped(error)
            }
            try transaction.insert(Self.things, document(400 + id, 2))
        }
    }

    /// Three jobs, of which the second always fails after a write.
    private func group(_ store: DocumentStore, _ id: Int32, _ expected: inout Expectation) {
        struct Regret: Error {}
        let outcomes = Locked<[Int32: (any Error)?]>([:])
        let jobs = (Int32(0)..<3).map { number in
            let new = 100 * (number + 1) + id
            @Sendable func settle(_ error: (any Error)?) {
                outcomes.withLock { $0[new] = .some(error) }
            }
            @Sendable func write(_ transaction: WriteTransaction) -> Result<Void, any Error> {
                Result {
                    try transaction.savepoint {
                        try transaction.insert(Self.things, document(new, number))
                        if number == 1 { throw Regret() }
                    }
                }
            }
            return GroupCommitJob(
                store: store,
                perform: { transaction in
                    let outcome = write(transaction)
                    return { failure in
                        switch outcome {
                        case .success: settle(failure)
                        case .failure(let error): settle(error)
                        }
                    }
                }, refused: settle,
                runAlone: {
                    do {
                        try store.write { try write($0).get() }
                        settle(nil)
                    } catch {
                        settle(error)
                    }
                })
        }
        ListedJobs(jobs).runAll()
        for (new, error) in outcomes.withLock({ $0 }) {
            switch error {
            case nil: expected.values[new] = new / 100 - 1
            case is Regret: continue
            case .some(let error):
                Self.expectTyped(error)
                if new / 100 != 2 { expected.unsure.insert(new) }
            }
        }
        #expect(outcomes.withLock { $0.count } == 3)
    }

    private static func expectTyped(_ error: any Error) {
        let code = (error as? StoreError)?.code
        let expected: [StoreError.Code] = [
            .ioError, .cannotOpen, .diskFull, .busy, .exceededMemoryLimit,
        ]
        #expect(code.map { expected.contains($0) } == true, "\(error)")
    }

    private static func check(_ store: DocumentStore, _ expected: Expectation) throws {
        #expect(try store.verify().faults == [])
        var found: [Int32: Int32] = [:]
        for document in try store.collection(things).find().fetch() {
            guard case .int32(let id)? = document["_id"], case .int32(let n)? = document["n"]
            else { continue }
            found[id] = n
        }
        let ids = Set(found.keys).union(expected.values.keys)
        for id in ids where !expected.unsure.contains(id) {
            #expect(found[id] == expected.values[id], "\(id)")
        }
        try store.write { try $0.put(things, ["_id": -1, "n": 1]) }
        try store.write { try $0.remove(things, id: -1) }
    }
}
