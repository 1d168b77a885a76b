import Foundation
import Testing

/// A kind of remote that the worlds of a test have.
enum RemoteKind: Sendable, Hashable {
    /// A store in memory.
    case inProcess
    /// `stitchsync serve` in a process of its own.
    case served(ServedWay)
    #if MongoRemote
        /// A gateway in a process of its own, before `stitchsync serve` in another.
        case gateway
    #endif
    #if MongoRemote
        /// A deployment that is there, by its URI.
        case deployment(String)
    #endif

    /// Those that tests run with.
    ///
    /// `STITCHSYNC_TEST_REMOTES=inProcess` leaves the servers out; `STITCHSYNC_TEST_MONGODB_URI` adds
    /// a deployment.
    static let wanted: [RemoteKind] = {
        let environment = ProcessInfo.processInfo.environment
        var kinds: [RemoteKind] = [.inProcess]
        if environment["STITCHSYNC_TEST_REMOTES"] != "inProcess" {
            kinds += ServedWay.allCases.map(RemoteKind.served)
        }
        #if MongoRemote
            if environment["STITCHSYNC_TEST_REMOTES"] == "gateway" { kinds = [.gateway] }
        #endif
        #if MongoRemote
            if let uri = environment["STITCHSYNC_TEST_MONGODB_URI"], !uri.isEmpty {
                kinds.append(.deployment(uri))
            }
        #endif
        return kinds
    }()

    /// Whether the history of an update tells the document, which MongoDB's events do not.
    var tellsUpdated: Bool {
        switch self {
        case .inProcess, .served: true
        #if MongoRemote
            case .gateway, .deployment: false
        #endif
        }
    }

    /// Whether other tests have their documents there, too.
    var isShared: Bool {
        switch self {
        case .inProcess, .served: false
        #if MongoRemote
            case .gateway: false
            case .deployment: true
        #endif
        }
    }
}

/// Runs each test of a suite once with every kind of remote: a store in memory, a server's process over
/// each way to it, and a deployment where one is named.
struct RemotesTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        for kind in RemoteKind.wanted {
            let database = kind.isShared ? "stitchtest_\(UUID().uuidString.prefix(18))" : "app"
            try await SyncWorld.$database.withValue(database) {
                try await SyncWorld.$remoteKind.withValue(kind) {
                    try await ScriptedRemote.forgettingScripts(function)
                }
            }
        }
    }
}

extension Trait where Self == RemotesTrait {
    /// Runs each test once with every kind of remote.
    static var remotes: Self { RemotesTrait() }
}
