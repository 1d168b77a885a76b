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

/// Ends a server's process when nobody needs it any more.
final class ServerHolder: Sendable {
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

    /// Kills the server and starts it again on its file; gives its new port.
    func killAndRestart() throws -> Int {
        try server.withLock { server in
            try server.restart(SIGKILL, arguments)
            return server.port
        }
    }
}
