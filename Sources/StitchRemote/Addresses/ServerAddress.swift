#if Remote
    internal import BSONStore

    /// A host and its port.
    struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
        /// A name, an IPv4 address, or an IPv6 address without brackets.
        let host: String
        let port: Int

        /// The port of `stitchsync serve` and of MongoDB.
        static let defaultPort = 27_017

        init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// Reads `host`, `host:port` or `[IPv6 address]:port`; `nil` for other texts.
        init?(_ text: String) {
            var rest = text[...]
            let host: Substring
            if rest.first == "[" {
                guard let end = rest.firstIndex(of: "]") else { return nil }
                host = rest[rest.index(after: rest.startIndex)..<end]
                rest = rest[rest.index(after: end)...]
                guard host.contains(":"), rest.isEmpty || rest.first == ":" else { return nil }
            } else {
                let end = rest.firstIndex(of: ":") ?? rest.endIndex
                host = rest[..<end]
                rest = rest[end...]
            }
            guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else { return nil }
            var port = Self.defaultPort
            if !rest.isEmpty {
                let digits = rest.dropFirst()
                guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    let number = Int(digits), (1...65_535).contains(number)
                else { return nil }
                port = number
            }
            self.init(host: host.lowercased(), port: port)
        }

        /// Whether a byte occurs in names and addresses; bytes above ASCII belong to names.
        private static func isOfHost(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...:
                true
            default: false
            }
        }

        /// Whether the host is this machine, so that no network carries the bytes.
        var isLoopback: Bool {
            let isIPv4 =
                host.hasBytePrefix("127.")
                && host.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".")
                }
            return host == "localhost" || host == "::1" || isIPv4
        }

        var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }
#endif
