import Foundation
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a follower would use power while nothing happens, or sleep through a commit.
@Suite(.timeLimit(.minutes(5))) struct CommitWatchTests {
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
        let writes = try #require(FileWrites(to: path + "-wal"))
        #expect(writes.wait(milliseconds: 0) == .timeout)
        try await store.collection(Self.things).insertOne(["_id": 2])
        #expect(writes.wait(milliseconds: 60_000) == .written)
        // One wait takes all that was written before it.
        #expect(writes.wait(milliseconds: 0) == .timeout)
        try await store.collection(Self.things).insertOne(["_id": 3])
        writes.forget()
        #expect(writes.wait(milliseconds: 0) == .timeout)
    }

    @Test func `an interruption ends one wait`() async throws {
        let directory = try TemporaryDirectory()
        try Data([1]).write(to: URL(filePath: directory.file()))
        let writes = try #require(FileWrites(to: directory.file()))
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

    @Test func `a file that is not there has no reports`() throws {
        let directory = try TemporaryDirectory()
        #expect(FileWrites(to: directory.file()) == nil)
    }
}
