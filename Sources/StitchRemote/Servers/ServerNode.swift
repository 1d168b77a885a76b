#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// The connections to one host.
    ///
    /// A server of ours carries any number of requests on one connection, and has a second one for
    /// waits. Other servers carry out the messages of a connection one after the other, so there
    /// each request has a connection for itself.
    final class ServerNode: Sendable {
        /// The kinds of requests, which must not delay each other.
        enum Use: Sendable, Hashable, CaseIterable {
            case request
            case wait
        }

        /// A connection, with what the server said and the sign-in that it belongs to.
        struct Line: Sendable {
            let connection: WireConnection
            let description: ServerDescription
            let signIn: Int
        }

        private struct State {
            var shared: [Use: Line] = [:]
            var idle: [Line] = []
            /// All connections that may be open.
            var all: [Line] = []
            var signIn = 1
            var isClosed = false
        }

        let address: ServerAddress
        private let settings: ConnectionSettings
        /// The number of connections to all hosts that were begun so far.
        private let connectionCount: Locked<UInt64>
        private let state = Locked(State())
        /// Connections are made one after the other, so that a shared one is made once.
        private let making: [Use: Gate]

        init(
            _ address: ServerAddress, _ settings: ConnectionSettings,
            counting connectionCount: Locked<UInt64>
        ) {
            self.address = address
            self.settings = settings
            self.connectionCount = connectionCount
            making = Dictionary(
                uniqueKeysWithValues: Use.allCases.map { ($0, Gate(countMax: 1)) })
        }

        /// Runs a body with a connection.
        func with<R>(
            _ use: Use, _ body: (Line) async throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            let line = try await take(use)
            do throws(MongoFailure) {
                let result = try await body(line)
                giveBack(line)
                return result
            } catch {
                // A late reply would hold the connection up; others may share it.
                if !line.description.isConcurrent, error.kind == .network {
                    line.connection.close(error)
                }
                giveBack(line)
                throw error
            }
        }

        /// Sends a command without waiting for its reply, where a connection is open.
        func post(_ command: BSONDocument) {
            let line = state.withLock { $0.shared[.request] ?? $0.idle.last }
            line?.connection.post(command)
        }

        private func take(_ use: Use) async throws(MongoFailure) -> Line {
            if let line = try openLine(use) { return line }
            guard let gate = making[use] else { throw .closed }
            return try await gate.pass { () async throws(MongoFailure) in
                if let line = try openLine(use) { return line }
                connectionCount.withLock { $0 += 1 }
                let line = try await connect()
                return try state.withLock { (state) throws(MongoFailure) in
                    guard !state.isClosed else {
                        line.connection.close(.closed)
                        throw .closed
                    }
                    state.all.removeAll { !$0.connection.isOpen }
                    state.all.append(line)
                    if line.description.isConcurrent, line.signIn == state.signIn {
                        state.shared[use] = line
                    }
                    return line
                }
            }
        }

        private func openLine(_ use: Use) throws(MongoFailure) -> Line? {
            try state.withLock { (state) throws(MongoFailure) in
                guard !state.isClosed else { throw .closed }
                if let line = state.shared[use] {
                    if line.connection.isOpen { return line }
                    state.shared[use] = nil
                }
                while let line = state.idle.popLast() {
                    if line.connection.isOpen { return line }
                }
                return nil
            }
        }

        private func giveBack(_ line: Line) {
            guard !line.description.isConcurrent, line.connection.isOpen else { return }
            let isKept = state.withLock { state in
                guard !state.isClosed, line.signIn == state.signIn else { return false }
                state.idle.append(line)
                return true
            }
            if !isKept { line.connection.retire() }
        }

        private func connect() async throws(MongoFailure) -> Line {
            let credentials = settings.credentials.current
            do throws(MongoFailure) {
                return try await connect(with: credentials.handshake)
            } catch {
                guard error.kind == .authentication, !Task.isCancelled,
                    let next = try await settings.credentials.next(after: credentials)
                else { throw error }
                return try await connect(with: next.handshake)
            }
        }

        private func connect(with handshake: Handshake) async throws(MongoFailure) -> Line {
            let signIn = state.withLock { $0.signIn }
            let connection = try await WireConnection.open(
                address, settings.security, within: settings.connectTimeout,
                counting: settings.traffic)
            do throws(MongoFailure) {
                let greeting = try await handshake.run(
                    connection, within: settings.socketTimeout, settings.elapsed)
                let compressor = settings.compression.compressor(
                    accepted: greeting.description.compressors, roundTrip: greeting.roundTrip)
                connection.trust(compressor)
                return Line(
                    connection: connection, description: greeting.description, signIn: signIn)
            } catch {
                connection.close(error)
                throw error
            }
        }

        /// Replaces all connections by new ones, which sign in anew.
        func renew(_ signIn: Int) {
            let old = state.withLock { state in
                state.signIn = signIn
                return Self.removeAll(&state)
            }
            for line in old { line.connection.retire() }
        }

        /// Closes the connections once their replies have arrived; later ones are new.
        func release() {
            let old = state.withLock { Self.removeAll(&$0) }
            for line in old { line.connection.retire() }
        }

        /// Closes all connections, and accepts no more requests.
        func close() {
            let old = state.withLock { state in
                state.isClosed = true
                return Self.removeAll(&state)
            }
            for line in old { line.connection.close(.closed) }
            for gate in making.values { gate.close() }
        }

        private static func removeAll(_ state: inout State) -> [Line] {
            defer {
                state.shared = [:]
                state.idle = []
                state.all = []
            }
            return state.all
        }
    }
#endif
