#if CommandLine && Server && MongoRemote
    import BSONStore
    import StitchCommands
    import StitchMongo
    import StitchServer

    /// The deployment behind `stitchsync serve --upstream`, through libmongoc.
    struct GatewayUpstream: Upstream {
        private let deployment: BlockingDeployment

        /// The number of connections to each server of the deployment: for the commands that run at
        /// once, and for the streams that are followed.
        private static let clientsMax = 1_000

        /// Parses the URI; does not connect yet.
        ///
        /// - Throws: `CommandError`, which does not repeat the URI: it may hold a password.
        init(uri: String) throws {
            do throws(MongoFailure) {
                deployment = try BlockingDeployment(
                    uri: uri, applicationName: "stitchsync gateway", clientsMax: Self.clientsMax)
            } catch {
                throw CommandError(
                    "the URI of the upstream cannot be used; check that it begins with mongodb:// or "
                        + "mongodb+srv:// and that special characters of its password are written "
                        + "as %XX")
            }
        }

        func run(
            _ command: BSONDocument, on database: String, _ kind: UpstreamCommandKind,
            for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> BSONDocument {
            do throws(MongoFailure) {
                let mongoKind: MongoCommandKind =
                    switch kind {
                    case .read: .read
                    case .write: .write
                    }
                return try deployment.run(command, on: database, mongoKind, for: caller.ofMongo)
            } catch {
                throw error.ofUpstream
            }
        }

        func place(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamPlace {
            do throws(MongoFailure) {
                return GatewayPlace(
                    deployment: deployment, place: try deployment.place(for: caller.ofMongo))
            } catch {
                throw error.ofUpstream
            }
        }

        func openSession(
            for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> any UpstreamSession {
            do throws(MongoFailure) {
                return GatewaySession(session: try deployment.openSession(for: caller.ofMongo))
            } catch {
                throw error.ofUpstream
            }
        }
    }

    /// A place of a cursor in the deployment.
    private struct GatewayPlace: UpstreamPlace {
        let deployment: BlockingDeployment
        let place: MongoPlace

        var server: UInt32 { place.serverID }

        func run(
            _ command: BSONDocument, on database: String, for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> BSONDocument {
            do throws(MongoFailure) {
                return try deployment.run(
                    command, on: database, at: place, for: caller.ofMongo)
            } catch {
                throw error.ofUpstream
            }
        }
    }

    /// A session of the deployment.
    private struct GatewaySession: UpstreamSession {
        let session: BlockingSession

        func run(
            _ command: BSONDocument, on database: String, for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> BSONDocument {
            do throws(MongoFailure) {
                return try session.run(command, on: database, for: caller.ofMongo)
            } catch {
                throw error.ofUpstream
            }
        }

        func startTransaction(readsNewest: Bool) throws(UpstreamFailure) {
            do throws(MongoFailure) {
                try session.startTransaction(readsNewest: readsNewest)
            } catch {
                throw error.ofUpstream
            }
        }

        func commitTransaction() throws(UpstreamFailure) {
            do throws(MongoFailure) {
                try session.commitTransaction()
            } catch {
                throw error.ofUpstream
            }
        }

        func abortTransaction() { session.abortTransaction() }

        func end() { session.end() }
    }

    extension MongoFailure {
        /// The failure as a gateway sees it.
        fileprivate var ofUpstream: UpstreamFailure {
            let kind: UpstreamFailure.Kind =
                switch self.kind {
                case .server, .collectionDropped: .answer
                case .authentication: .signIn
                case .busy: .busy
                case .network, .protocolError, .usage: .unreachable
                }
            return UpstreamFailure(
                kind, code: Int32(clamping: code), message, labels: labels.sorted(), reply: reply)
        }
    }

    extension UpstreamCaller {
        fileprivate var ofMongo: MongoCaller { MongoCaller(user: user, budget: budget) }
    }
#endif
