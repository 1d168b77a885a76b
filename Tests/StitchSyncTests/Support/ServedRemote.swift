import BSONStore
import Foundation
import StitchSync
import TestProcesses

/// A remote together with its server, which ends after the last connection to it.
final class ServedRemote: Remote {
    private let base: any Remote
    private let server: ServerHolder

    init(_ base: any Remote, _ server: ServerHolder) {
        self.base = base
        self.server = server
    }

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        base.collection(namespace)
    }

    var reachability: AsyncStream<Bool>? { base.reachability }
}

/// A part of what a remote reaches that a test can kill.
enum KilledPart: Sendable, CaseIterable {
    /// The server to which devices connect.
    case server
    /// The database behind a gateway.
    case upstream
}

/// What stands at the end of a way, in processes of its own.
protocol KillableServer: Sendable {
    /// The port to which devices connect.
    var port: Int { get }
    /// The user that devices sign in as; `nil` for none.
    var user: (name: String, password: String)? { get }

    /// Kills a part and starts it again on its file; returns the port for devices.
    func killAndRestart(_ part: KilledPart) throws -> Int
}

/// Ends a server's process when nobody needs it any more.
final class ServerHolder: KillableServer {
    private let server: Locked<ServerProcess>
    /// What the server was started with, besides its file.
    private let arguments: [String]

    init(_ server: sending ServerProcess, _ arguments: [String] = []) {
        self.server = Locked(server)
        self.arguments = arguments
    }

    deinit { server.withLock { $0.remove() } }

    /// The port that the server listens on.
    var port: Int { server.withLock { $0.port } }

    var user: (name: String, password: String)? { nil }

    func killAndRestart(_ part: KilledPart = .server) throws -> Int {
        try server.withLock { server in
            try server.restart(SIGKILL, arguments)
            return server.port
        }
    }
}
