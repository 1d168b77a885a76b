#if Remote
    internal import BSONStore
    internal import StitchWire

    /// The choice of the messages that a connection compresses, and how.
    struct CompressionChoice: Sendable, Hashable {
        /// When connections compress.
        var mode: RemoteCompression
        /// The methods that the client offers, the preferred one first.
        var offered: [WireCompressor]

        /// The shortest round trip of a link that is worth the work of compression.
        static let slowRoundTrip: Duration = .milliseconds(5)

        /// The methods, the fastest one first.
        static let supported = WireCompressor.allCases.filter { $0 != .none }

        /// The names to send in `hello`; empty to ask for no compression.
        var names: [String] {
            switch mode {
            case .automatic, .always: offered.map(\.name)
            case .never: []
            }
        }

        /// Returns the compression of a new connection; `nil` for none.
        ///
        /// Source: the drivers' specification "Wire Compression": the client's order counts.
        ///
        /// - Parameters:
        ///   - accepted: the names that the server named in its reply to `hello`.
        ///   - roundTrip: the time that the server took to reply to `hello`.
        func compressor(accepted: [String], roundTrip: Duration) -> WireCompressor? {
            switch mode {
            case .never: return nil
            case .automatic where roundTrip < Self.slowRoundTrip: return nil
            case .automatic, .always:
                return offered.first { method in
                    accepted.contains { $0.hasSameBytes(as: method.name) }
                }
            }
        }

        /// The commands that may hold a secret or precede the sign-in, whose length must tell
        /// nothing.
        private static let plainCommands: Set<Name> = [
            "hello", "isMaster", "ismaster", "saslStart", "saslContinue", "getnonce",
            "authenticate", "createUser", "updateUser", "copydbSaslStart", "copydbgetnonce",
            "copydb", "stitchsyncSignUp", "stitchsyncRegister", "stitchsyncChangePassword",
            "stitchsyncSetPassword", "stitchsyncDeleteAccount", "stitchsyncRequestPasswordToken",
            "stitchsyncMakePasswordToken",
        ]

        /// Whether a command may be compressed.
        static func allows(_ command: BSONDocument) -> Bool {
            guard let name = command.keys.first else { return false }
            return !plainCommands.contains(Name(name))
        }
    }
#endif
