import Foundation
import Testing

/// Says which remote the worlds of a test have.
enum RemoteKind: String, Sendable, CaseIterable {
    /// A store in memory.
    case inProcess
    #if MongoRemote
        /// `stitchsync serve` in a process of its own, through libmongoc.
        case served
    #endif
}

/// Runs each test of a suite once with every kind of remote that is asked for.
///
/// That is a store in memory, and with `STITCHSYNC_TEST_REMOTES=all` also a server's process.
struct RemotesTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let isAsked = ProcessInfo.processInfo.environment["STITCHSYNC_TEST_REMOTES"] == "all"
        for kind in isAsked ? RemoteKind.allCases : [.inProcess] {
            try await SyncWorld.$remoteKind.withValue(kind) { try await function() }
        }
    }
}

extension Trait where Self == RemotesTrait {
    /// Runs each test once with every kind of remote.
    static var remotes: Self { RemotesTrait() }
}
