import Testing

@testable import BSONStore

/// Without these a failed write could be acknowledged, or the store be of no use after it.
@Suite(.serialized) struct FailingFileSystemTests {
    private static let things = Namespace("app", "things")

    /// What a store is made to do while the file system fails.
    enum Workload: CaseIterable {
        case openAndInsert
        case inserts
        case update
        case largeDocuments
        case deleteAndCompact
    }

    @Test(
        arguments: Workload.allCases,
        FailingFileSystem.Call.allCases.flatMap { call in
            [(call, false), (call, true)].map(Failure.init)
        })
    func `a failed call loses nothing that was acknowledged`(
        workload: Workload, failure: Failure
    ) throws {
        var number = 1
        while number < 400 {
            let plan = FailingFileSystem.Plan(
                call: failure.call, number: number, isLasting: failure.isLasting)
            guard try run(workload, plan) else { return }
            // Every call at first, then fewer and fewer: there are hundreds.
            number += 1 + number / 8
        }
    }

    /// A call with whether it fails from then on.
    struct Failure: Sendable {
        let call: FailingFileSystem.Call
        let isLasting: Bool
    }

    /// Whether the plan's call was reached.
    private func run(_ workload: Workload, _ plan: FailingFileSystem.Plan) throws -> Bool {
        let directory = try TemporaryDirectory()
        var options = DocumentStore.Options(cacheKiB: 64)
        options.fileSystem = FailingFileSystem.name
        #expect(FailingFileSystem.layer)
        // What is there for certain; a write that failed may be there or not.
        var expected: [Int32: Int32] = [:]
        var unsure: Set<Int32> = []
        if workload != .openAndInsert {
            let store = try DocumentStore(at: .file(directory.file()), options: options)
            for id in Int32(0)..<20 {
                try store.write { try $0.insert(Self.things, ["_id": .int32(id), "n": 0]) }
                expected[id] = 0
            }
            store.close()
        }
        var store: DocumentStore?
        let (_, failures) = FailingFileSystem.failing(plan) {
            do {
                let opened = try DocumentStore(at: .file(directory.file()), options: options)
                store = opened
                Self.work(workload, opened, &expected, &unsure)
            } catch {
                Self.expectTyped(error)
            }
        }
        // The same store goes on once the file system does.
        if let store { try Self.check(store, expected, unsure) }
        store?.close()
        let again = try DocumentStore(at: .file(directory.file()), options: options)
        defer { again.close() }
        try Self.check(again, expected, unsure)
        return failures > 0
    }

    private static func work(
        _ workload: Workload, _ store: DocumentStore, _ expected: inout [Int32: Int32],
        _ unsure: inout Set<Int32>
    ) {
        func attempt(_ id: Int32, _ value: Int32?, _ body: (WriteTransaction) throws -> Void) {
            do {
                try store.write(body)
                expected[id] = value
                unsure.remove(id)
            } catch {
                expectTyped(error)
                unsure.insert(id)
            }
        }
        let text = BSONValue.string(
            String(repeating: "z", count: workload == .largeDocuments ? 40_000 : 400))
        for id in Int32(0)..<12 {
            switch workload {
            case .openAndInsert, .inserts, .largeDocuments:
                attempt(100 + id, 7) {
                    try $0.insert(things, ["_id": .int32(100 + id), "n": 7, "text": text])
                }
            case .update:
                attempt(id, 5) {
                    try $0.put(things, ["_id": .int32(id), "n": 5, "text": text])
                }
            case .deleteAndCompact:
                attempt(id, nil) { try $0.remove(things, id: .int32(id)) }
            }
        }
        guard workload == .deleteAndCompact else { return }
        do { try store.compact() } catch { expectTyped(error) }
    }

    private static func expectTyped(_ error: any Error) {
        let code = (error as? StoreError)?.code
        let expected: [StoreError.Code] = [.ioError, .cannotOpen, .diskFull, .corrupt, .busy]
        #expect(code.map { expected.contains($0) } == true, "\(error)")
        #expect(code != .corrupt, "\(error)")
    }

    private static func check(
        _ store: DocumentStore, _ expected: [Int32: Int32], _ unsure: Set<Int32>
    ) throws {
        #expect(try store.verify().faults == [])
        var found: [Int32: Int32] = [:]
        for document in try store.collection(things).find() {
            guard case .int32(let id)? = document["_id"], case .int32(let n)? = document["n"]
            else { continue }
            found[id] = n
        }
        for id in Set(found.keys).union(expected.keys) where !unsure.contains(id) {
            #expect(found[id] == expected[id], "\(id)")
        }
        try store.write { try $0.put(things, ["_id": -1, "n": 1]) }
        try store.write { try $0.remove(things, id: -1) }
    }
}
