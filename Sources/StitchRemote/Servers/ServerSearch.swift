#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// One search for the primary: asks all hosts at once, and again with growing pauses.
    struct ServerSearch: Sendable {
        private enum Event: Sendable {
            case answered(ServerAddress, Result<ServerDescription, MongoFailure>)
            case ended
        }

        private let seeds: [ServerAddress]
        private let settings: ConnectionSettings
        private let node: @Sendable (ServerAddress) -> ServerNode

        private static let pauses = [50, 100, 200, 400, 800].map { Duration.milliseconds($0) }
        private static let pauseMax: Duration = .seconds(1)
        private static let hostsMax = 100

        init(
            _ seeds: [ServerAddress], _ settings: ConnectionSettings,
            node: @escaping @Sendable (ServerAddress) -> ServerNode
        ) {
            self.seeds = seeds
            self.settings = settings
            self.node = node
        }

        /// Searches until a primary answers, a host refuses the sign-in, or the time is over.
        func run(within limit: Duration) async -> Result<ServerNode, MongoFailure> {
            await withTaskGroup(of: Event.self) { group in
                group.addTask {
                    await SocketBootstrap.pause(limit)
                    return .ended
                }
                var attempts: [ServerAddress: Int] = [:]
                var reasons: [ServerAddress: String] = [:]
                var order: [ServerAddress] = []
                func ask(_ address: ServerAddress) {
                    if attempts[address] == nil { order.append(address) }
                    let attempt = attempts[address, default: 0]
                    attempts[address] = attempt + 1
                    group.addTask { await answer(address, attempt: attempt) }
                }
                for seed in seeds { ask(seed) }
                var result: Result<ServerNode, MongoFailure>?
                while result == nil, let event = await group.next() {
                    if Task.isCancelled {
                        result = .failure(.cancelled)
                        break
                    }
                    switch event {
                    case .ended:
                        let list = order.map { "\($0): \(reasons[$0] ?? "no answer yet")" }
                        result = .failure(
                            .network(
                                "no primary was found within "
                                    + "\(settings.serverSelectionTimeout.milliseconds) ms: "
                                    + list.joined(separator: "; ")))
                    case .answered(let address, .failure(let failure)):
                        // The host will not change its mind by itself.
                        if [.authentication, .usage].contains(failure.kind) || failure == .closed {
                            result = .failure(failure)
                        }
                        reasons[address] = failure.message
                        ask(address)
                    case .answered(let address, .success(let description)):
                        if let wrong = mismatch(description) {
                            reasons[address] = wrong
                        } else if description.isPrimary {
                            result = .success(node(address))
                        } else {
                            reasons[address] = "it is not the primary"
                            if !settings.isDirect {
                                for host in description.hosts
                                where attempts[host] == nil && attempts.count < Self.hostsMax {
                                    ask(host)
                                }
                            }
                        }
                        if result == nil { ask(address) }
                    }
                }
                group.cancelAll()
                return result ?? .failure(.cancelled)
            }
        }

        private func mismatch(_ description: ServerDescription) -> String? {
            guard let wanted = settings.replicaSet, !description.setName.hasSameBytes(as: wanted)
            else {
                return nil
            }
            let actual = description.setName.map { "the replica set \($0)" } ?? "no replica set"
            return "it belongs to \(actual), not to \(wanted)"
        }

        private func answer(_ address: ServerAddress, attempt: Int) async -> Event {
            if attempt > 0 {
                await SocketBootstrap.pause(
                    attempt <= Self.pauses.count ? Self.pauses[attempt - 1] : Self.pauseMax)
            }
            do throws(MongoFailure) {
                let hello: BSONDocument = ["hello": 1, "$db": "admin"]
                let limit = settings.socketTimeout
                return .answered(
                    address,
                    .success(
                        try await node(address).with(.request) { (line) throws(MongoFailure) in
                            let reply = try await line.connection.reply(
                                to: MongoRequest(hello), within: limit)
                            return ServerDescription(try MongoFailure.check(reply))
                        }))
            } catch {
                return .answered(address, .failure(error))
            }
        }
    }
#endif
