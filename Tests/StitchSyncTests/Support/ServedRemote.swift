#if MongoRemote
    import BSONStore
    import Foundation
    import StitchMongo
    import StitchSync
    import TestProcesses

    /// Is a remote together with its server, which ends after the last connection to it.
    final class ServedRemote: Remote {
        private let mongo: MongoRemote
        private let server: ServerHolder

        init(_ mongo: MongoRemote, _ server: ServerHolder) {
            self.mongo = mongo
            self.server = server
        }

        func collection(_ namespace: Namespace) -> any RemoteCollection {
            mongo.collection(namespace)
        }

        var reachability: AsyncStream<Bool>? { mongo.reachability }
    }

    /// Ends a server's process when nobody needs it any more.
    final class ServerHolder: Sendable {
        private let server: Locked<ServerProcess>

        init(_ server: sending ServerProcess) { self.server = Locked(server) }

        deinit { server.withLock { $0.remove() } }

        /// The port that the server listens on.
        var port: Int { server.withLock { $0.port } }

        /// Kills the server and starts it again on its file; gives its new port.
        func killAndRestart() throws -> Int {
            try server.withLock { server in
                try server.restart(SIGKILL)
                return server.port
            }
        }
    }
#endif
