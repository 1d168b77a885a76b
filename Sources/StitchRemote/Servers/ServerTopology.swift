#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// The hosts of a deployment, and which of them is the primary.
    ///
    /// Source: the drivers' specifications "Server Discovery and Monitoring" and "Server
    /// Selection", without monitoring: hosts are asked when a request finds no primary.
    final class ServerTopology: Sendable {
        private struct State {
            var nodes: [ServerAddress: ServerNode] = [:]
            var primary: ServerNode?
            var signIn = 1
            var isClosed = false
            /// The end of the last search without a result.
            var failedAt: ContinuousClock.Instant?
            var failure: MongoFailure?
        }

        private let seeds: [ServerAddress]
        /// The number of connections that were begun so far.
        let connectionCount = Locked<UInt64>(0)
        private let settings: ConnectionSettings
        private let reachability: Reachability
        private let state = Locked(State())
        /// One search at a time, whose result all waiting requests share.
        private let search = Gate(countMax: 1)

        init(
            _ seeds: [ServerAddress], _ settings: ConnectionSettings, _ reachability: Reachability
        ) {
            self.seeds = seeds
            self.settings = settings
            self.reachability = reachability
        }

        /// The number of the current sign-in.
        var signIn: Int { state.withLock { $0.signIn } }

        /// The primary; searches for it if none is known.
        ///
        /// - Throws: ``MongoFailure`` that names each host and its last error when none was found
        ///   within the limit of the settings.
        func primary() async throws(MongoFailure) -> ServerNode {
            let start = ContinuousClock.now
            if let known = try known(since: start) { return known }
            return try await search.pass { () async throws(MongoFailure) in
                if let known = try known(since: start) { return known }
                let limit = settings.serverSelectionTimeout - (.now - start)
                let result = await ServerSearch(
                    seeds, settings, node: { self.node($0) }
                ).run(within: limit)
                return try note(result)
            }
        }

        /// Notes that a host may no longer be the primary.
        func lose(_ node: ServerNode) {
            state.withLock { if $0.primary === node { $0.primary = nil } }
        }

        /// Makes later requests sign in again; returns false if another call did so already.
        func renew(after signIn: Int) {
            let (nodes, number) = state.withLock { state -> ([ServerNode], Int) in
                guard state.signIn <= signIn else { return ([], 0) }
                state.signIn = signIn + 1
                return (Array(state.nodes.values), state.signIn)
            }
            for node in nodes { node.renew(number) }
        }

        /// Closes all connections; later calls fail.
        func close() {
            let nodes = state.withLock { state in
                state.isClosed = true
                state.primary = nil
                return Array(state.nodes.values)
            }
            search.close()
            for node in nodes { node.close() }
        }

        /// The primary, or the failure of a search that ended after the call began.
        private func known(
            since start: ContinuousClock.Instant
        ) throws(MongoFailure) -> ServerNode? {
            try state.withLock { (state) throws(MongoFailure) in
                guard !state.isClosed else { throw .closed }
                if let primary = state.primary { return primary }
                if let failure = state.failure, let end = state.failedAt, end > start {
                    throw failure
                }
                return nil
            }
        }

        private func node(_ address: ServerAddress) -> ServerNode {
            state.withLock { state in
                if let known = state.nodes[address] { return known }
                let made = ServerNode(address, settings, counting: connectionCount)
                made.renew(state.signIn)
                if state.isClosed { made.close() }
                state.nodes[address] = made
                return made
            }
        }

        private func note(
            _ result: Result<ServerNode, MongoFailure>
        ) throws(MongoFailure) -> ServerNode {
            switch result {
            case .success(let primary):
                let others = try state.withLock { (state) throws(MongoFailure) in
                    guard !state.isClosed else { throw .closed }
                    state.primary = primary
                    state.failure = nil
                    return state.nodes.values.filter { $0 !== primary }
                }
                for other in others { other.release() }
                reachability.note(true)
                return primary
            case .failure(let failure):
                if failure != .cancelled, failure != .closed {
                    state.withLock { state in
                        state.failure = failure
                        state.failedAt = .now
                    }
                    if failure.kind == .network { reachability.note(false) }
                }
                throw failure
            }
        }
    }
#endif
