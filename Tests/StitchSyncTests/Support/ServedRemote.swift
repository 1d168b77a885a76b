#if MongoRemote
    import BSONStore
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
    }

    /// Ends a server's process when nobody needs it any more.
    final class ServerHolder: Sendable {
        private let server: Locked<ServerProcess>

        init(_ server: sending ServerProcess) { self.server = Locked(server) }

        deinit { server.withLock { $0.remove() } }
    }
#endif
