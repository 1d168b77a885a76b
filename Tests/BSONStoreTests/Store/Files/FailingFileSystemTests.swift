#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONStore

/// Without these a failed call could be acknowledged, or the store be of no use after it.
@Suite(.serialized) struct FailingFileSystemTests {
    /// Whether each call fails once, or only so many of them that a run takes seconds.
    private static let isThorough =
        ProcessInfo.processInfo.environment["FAULTS"] == "all"

    /// The number of the call that fails after this one: every one at first, then fewer and fewer.
    private static func next(_ number: Int, share: Int) -> Int {
        isThorough ? number + 1 : number + 1 + number / share
    }

    @Test(
        arguments: FailureWorkload.allCases,
        FailingFileSystem.Call.ofFiles.flatMap { call in
            [(call, false), (call, true)].map(Failure.init)
        })
    func `a failed call loses nothing that was acknowledged`(
        workload: FailureWorkload, failure: Failure
    ) throws {
        var number = 1
        while try workload.run(
            .init(call: failure.call, number: number, isLasting: failure.isLasting))
        {
            number = Self.next(number, share: 3)
        }
        #expect(number > 1)
    }

    @Test func `a log that cannot be opened once is not taken for none`() throws {
        let directory = try TemporaryDirectory()
        let location = DocumentStore.Location.file(directory.file())
        let things = Namespace("app", "things")
        let made = try DocumentStore(at: location)
        try made.collection(things).insertOne(["_id": 1])
        made.close()
        var options = DocumentStore.Options()
        options.fileSystem = FailingFileSystem.name
        #expect(FailingFileSystem.layer)
        let store = try DocumentStore(at: location, options: options)
        for number in 1...4 {
            _ = FailingFileSystem.failing(.init(call: .open, number: number, isLasting: false)) {
                do { _ = try store.collection(things).find().count() } catch {}
            }
        }
        try store.collection(things).insertOne(["_id": 2])
        #expect(try store.collection(things).find().count() == 2)
    }

    /// A call with whether it fails from then on.
    struct Failure: Sendable {
        let call: FailingFileSystem.Call
        let isLasting: Bool
    }

    @Test(arguments: FailureWorkload.allCases, [false, true])
    func `a failed allocation loses nothing that was acknowledged`(
        workload: FailureWorkload, isLasting: Bool
    ) async throws {
        await #expect(processExitsWith: .success) {
            [name = workload.rawValue as String, isLasting = isLasting as Bool] in
            guard let workload = FailureWorkload(rawValue: name), FailingMemory.install() else {
                preconditionFailure("SQLite was used before")
            }
            var number = 1
            while try workload.run(
                .init(call: .allocation, number: number, isLasting: isLasting))
            {
                number = Self.next(number, share: 2)
            }
            #expect(number > 100)
        }
    }
}
