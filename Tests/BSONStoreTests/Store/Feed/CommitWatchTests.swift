import Foundation
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a follower would use power while nothing happens, or sleep through a commit.
@Suite(.timeLimit(.minutes(30))) struct CommitWatchTests {
    private static let things = Namespace("app", "things")

    private func pauses(_ count: Int, hasReports: Bool) -> [CommitWatchPace.Pause] {
        var pace = CommitWatchPace()
        return (0..<count).map { _ in pace.next(hasReports: hasReports) }
    }

    @Test func `a store at rest is looked at once a minute`() {
        let pauses = pauses(20, hasReports: true)
        #expect(
            pauses.map(\.milliseconds) == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048]
                + Array(repeating: 60_000, count: 9))
        // A short pause is whole; a long one ends with a write.
        #expect(pauses.map(\.endsWithWrite) == pauses.map { $0.milliseconds > 32 })
    }

    @Test func `without reports of the system the pauses stay short`() {
        let pauses = pauses(8, hasReports: false)
        #expect(pauses.map(\.milliseconds) == [2, 4, 8, 16, 32, 32, 32, 32])
        #expect(pauses.allSatisfy { !$0.endsWithWrite })
    }

    @Test func `a write begins with short pauses again`() {
        var pace = CommitWatchPace()
        for _ in 0..<20 { _ = pace.next(hasReports: true) }
        pace.restart()
        #expect(pace.next(hasReports: true).milliseconds == 2)
    }

    @Test func `a commit of another connection is reported as a write to the log`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        let store = try DocumentStore(at: .file(path))
        defer { store.close() }
        try await store.collection(Self.things).insertOne(["_id": 1])
        let writes = try #require(FileWrites())
        let log = try #require(writes.add(path + "-wal"))
        #expect(writes.wait(milliseconds: 0) == .timeout)
        try await store.collection(Self.things).insertOne(["_id": 2])
        #expect(writes.wait(milliseconds: 60_000) == .written)
        // One call returns all that was written before it.
        #expect(writes.reported() == [log])
        #expect(writes.wait(milliseconds: 0) == .timeout)
        writes.remove(log)
        _ = writes.reported()
        try await store.collection(Self.things).insertOne(["_id": 3])
        #expect(writes.wait(milliseconds: 0) == .timeout)
    }

    @Test func `a report names the file that was written`() throws {
        let directory = try TemporaryDirectory()
        let writes = try #require(FileWrites())
        let paths = ["a", "b"].map { directory.file($0) }
        for path in paths { try Data([1]).write(to: URL(filePath: path)) }
        let files = try paths.map { try #require(writes.add($0)) }
        for (path, file) in zip(paths, files).reversed() {
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.write(contentsOf: Data([2]))
            try handle.close()
            #expect(writes.reported() == [file])
        }
    }

    @Test func `an interruption ends one wait`() async throws {
        let directory = try TemporaryDirectory()
        try Data([1]).write(to: URL(filePath: directory.file()))
        let writes = try #require(FileWrites())
        _ = try #require(writes.add(directory.file()))
        for _ in 0..<3 { writes.interrupt() }
        #expect(writes.wait(milliseconds: 60_000) == .interrupted)
        #expect(writes.wait(milliseconds: 0) == .timeout)
        async let wake = withCheckedContinuation { continuation in
            _ = DetachedThread.start {
                continuation.resume(returning: writes.wait(milliseconds: 60_000))
            }
        }
        writes.interrupt()
        #expect(await wake == .interrupted)
    }

    @Test func `of many watched stores each learns of the commits to its own file`() async throws {
        let directory = try TemporaryDirectory()
        let paths = (0..<20).map { directory.file("\($0).store") }
        let stores = try paths.map { try DocumentStore(at: .file($0)) }
        let writers = try paths.map { try DocumentStore(at: .file($0)) }
        defer { for store in stores + writers { store.close() } }
        // The first look cannot tell whether a commit is new.
        for store in stores { try await store.waitForCommit(after: store.commitCount) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (number, store) in stores.enumerated() {
                let seen = store.commitCount
                group.addTask {
                    try await store.waitForCommit(after: seen)
                    return number
                }
            }
            for number in [3, 17, 3, 8] {
                try await writers[number].collection(Self.things).insertOne([:])
            }
            var told: Set<Int> = []
            while told != [3, 8, 17], let number = try await group.next() { told.insert(number) }
            #expect(told == [3, 8, 17])
            group.cancelAll()
        }
        for store in stores { store.close() }
        let error = await #expect(throws: StoreError.self) {
            try await stores[0].waitForCommit(after: stores[0].commitCount)
        }
        #expect(error?.code == .closed)
    }

    @Test func `a file that is not there has no reports`() throws {
        let directory = try TemporaryDirectory()
        #expect(try #require(FileWrites()).add(directory.file()) == nil)
    }
}
