#if Remote
    import BSONStore
    import StitchWire
    import TestProcesses

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// A peer on loopback that does with each connection what a test says, also what no server does.
    final class ScriptedPeer: Sendable {
        /// One connection of a client, which belongs to a thread of its own.
        final class Client {
            private let socket: Int32
            private var received: [UInt8] = []
            /// The number of the connection, from 1.
            let number: Int

            init(_ socket: Int32, number: Int) {
                self.socket = socket
                self.number = number
            }

            /// The next command and its number; `nil` at the end of the connection.
            func request() throws -> (id: Int32, command: BSONDocument)? {
                let parser = WireParser()
                while true {
                    if let length = try received.withUnsafeBytes({ try parser.messageLength($0) }),
                        received.count >= length
                    {
                        let request = try received.withUnsafeBytes {
                            try parser.parse(UnsafeRawBufferPointer(rebasing: $0[..<length]))
                        }
                        received.removeFirst(length)
                        return (request.requestID, request.body)
                    }
                    guard let more = bytes() else { return nil }
                    received += more
                }
            }

            /// The next bytes; `nil` at the end of the connection.
            func bytes() -> [UInt8]? {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                let count = read(socket, &buffer, buffer.count)
                return count > 0 ? Array(buffer[..<count]) : nil
            }

            func send(_ bytes: [UInt8]) { _ = Loopback.send(bytes, to: socket) }

            func reply(_ document: BSONDocument, to id: Int32) {
                send(WireEncoder.bytes(document, to: .message([]), requestID: 1, responseTo: id))
            }

            /// Answers `hello`, and returns the first other command.
            func greet(_ hello: BSONDocument = ScriptedPeer.hello()) throws -> (
                id: Int32, command: BSONDocument
            )? {
                while let next = try request() {
                    guard next.command["hello"] != nil else { return next }
                    reply(hello, to: next.id)
                }
                return nil
            }
        }

        private let listener: Int32
        private let isClosed = Locked(false)
        private let clients = Locked<[Int32]>([])
        private let accepted = Locked(0)
        let port: Int

        /// The number of connections so far.
        var connectionCount: Int { accepted.withLock { $0 } }

        /// The reply of a primary that carries requests out concurrently.
        static func hello(concurrent: Bool = true, set: String? = "rs") -> BSONDocument {
            var hello: BSONDocument = [
                "isWritablePrimary": true, "maxWireVersion": 21, "logicalSessionTimeoutMinutes": 30,
                "ok": 1,
            ]
            if let set { hello.append("setName", .string(set)) }
            if concurrent { hello.append("stitchsync", ["concurrent": 1]) }
            return hello
        }

        /// Listens, lends the peer, and closes all its connections.
        static func run<R>(
            _ script: @escaping @Sendable (Client) throws -> Void,
            _ body: (ScriptedPeer) async throws -> R
        ) async throws -> R {
            let peer = try ScriptedPeer(script)
            let result: Result<R, any Error>
            do { result = .success(try await body(peer)) } catch { result = .failure(error) }
            peer.close()
            return try result.get()
        }

        private init(_ script: @escaping @Sendable (Client) throws -> Void) throws {
            let listener = try Loopback.socket()
            var address = Loopback.address(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 64) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            guard isBound else { throw ProgramFailure(reason: "no port for a peer: \(errno)") }
            self.listener = listener
            port = Int(UInt16(bigEndian: address.sin_port))
            _ = DetachedThread.start { self.accept(script) }
        }

        private func accept(_ script: @escaping @Sendable (Client) throws -> Void) {
            while !isClosed.withLock({ $0 }) {
                #if canImport(Darwin)
                    let socket = Darwin.accept(listener, nil, nil)
                #else
                    let socket = Glibc.accept(listener, nil, nil)
                #endif
                guard socket >= 0 else { return }
                clients.withLock { $0.append(socket) }
                let number = accepted.withLock { count in
                    count += 1
                    return count
                }
                _ = DetachedThread.start {
                    let client = Client(socket, number: number)
                    do { try script(client) } catch {}
                    // Only shut down, so that the number of the socket is not used again.
                    shutdown(socket, Int32(SHUT_RDWR))
                }
            }
        }

        private func close() {
            isClosed.withLock { $0 = true }
            shutdown(listener, Int32(SHUT_RDWR))
            Loopback.close(listener)
            for socket in clients.withLock({ $0 }) { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }
#endif
