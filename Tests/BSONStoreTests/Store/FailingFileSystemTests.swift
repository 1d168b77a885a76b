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
