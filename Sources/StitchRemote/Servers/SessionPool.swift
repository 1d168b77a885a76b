#if Remote
    internal import BSONStore

    /// The server sessions that no command uses now.
    ///
    /// Source: the drivers' specification "Driver Sessions".
    final class SessionPool: Sendable {
        /// A session of the server: its id, and the number of its last write.
        struct Session: Sendable {
            let id: BSONDocument
            var number: Int64 = 0
            fileprivate var lastUse = ContinuousClock.now

            init() {
                var generator = SystemRandomNumberGenerator()
                var bytes = (0..<16).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
                // A random UUID: RFC 9562, section 5.4.
                bytes[6] = bytes[6] & 0x0F | 0x40
                bytes[8] = bytes[8] & 0x3F | 0x80
                id = ["id": .binary(BSONBinary(bytes, subtype: 4))]
            }
        }

        private let idle = Locked<[Session]>([])
        /// Servers end sessions after 30 minutes, or as their operator chose.
        private static let idleMax: Duration = .seconds(60)
        private static let countMax = 1_000

        /// Returns the most recently used session, or a new one.
        func take() -> Session {
            let now = ContinuousClock.now
            return idle.withLock { idle in
                if let last = idle.popLast(), now - last.lastUse < Self.idleMax { return last }
                idle = []
                return Session()
            }
        }

        /// Keeps a session for later; after a broken connection it is discarded instead, since a
        /// command may still use it.
        func giveBack(_ session: Session) {
            var session = session
            session.lastUse = .now
            idle.withLock { [session] idle in
                if idle.count < Self.countMax { idle.append(session) }
            }
        }

        /// Removes all sessions and returns their ids.
        func removeAll() -> [BSONDocument] {
            idle.withLock { idle in
                defer { idle = [] }
                return idle.map(\.id)
            }
        }
    }
#endif
