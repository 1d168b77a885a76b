#if Remote
    internal import BSONStore
    internal import StitchSync
    internal import StitchWire

    /// The options of a URI; `nil` for one that it does not have.
    ///
    /// Source: the drivers' specification "URI Options".
    struct URIOptions: Sendable, Hashable {
        var tls: Bool?
        var tlsCAFile: String?
        var replicaSet: String?
        var directConnection: Bool?
        var appName: String?
        var authSource: String?
        var authMechanism: String?
        var connectTimeout: Duration?
        var socketTimeout: Duration?
        var serverSelectionTimeout: Duration?
        var retryReads: Bool?
        var retryWrites: Bool?
        /// The methods of compression, the preferred one first; empty for none.
        var compressors: [WireCompressor]?

        init() {}

        /// Reads `name=value` pairs with `&` between them; names have no case.
        init(_ query: Substring) throws(RemoteError) {
            var seen: Set<String> = []
            for pair in query.split(separator: "&") {
                guard let equals = pair.firstIndex(of: "=") else {
                    throw ServerURI.refusal("the option \"\(pair)\" has no value; write name=value")
                }
                let name = String(pair[..<equals])
                let key = name.lowercased() == "ssl" ? "tls" : name.lowercased()
                let value = try ServerURI.decoded(
                    pair[pair.index(after: equals)...], "the option \(name)")
                guard seen.insert(key).inserted else {
                    throw ServerURI.refusal("the option \(name) occurs twice")
                }
                try set(key, name, value)
            }
            if tlsCAFile != nil, tls == nil { tls = true }
            guard tls != false || tlsCAFile == nil else {
                throw ServerURI.refusal("tlsCAFile needs tls=true")
            }
        }

        /// The names of all options.
        private static let names = [
            "tls", "tlsCAFile", "replicaSet", "directConnection", "appName", "authSource",
            "authMechanism", "connectTimeoutMS", "socketTimeoutMS", "serverSelectionTimeoutMS",
            "retryReads", "retryWrites", "compressors", "w", "readConcernLevel", "readPreference",
        ]

        private mutating func set(
            _ key: String, _ name: String, _ value: String
        ) throws(RemoteError) {
            switch key {
            case "tls": tls = try Self.flag(name, value)
            case "tlscafile": tlsCAFile = try Self.text(name, value)
            case "replicaset": replicaSet = try Self.text(name, value)
            case "directconnection": directConnection = try Self.flag(name, value)
            case "appname": appName = try Self.text(name, value, bytesMax: 128)
            case "authsource": authSource = try Self.text(name, value)
            case "authmechanism":
                authMechanism = try Self.choice(name, value, ["SCRAM-SHA-256"])
            case "connecttimeoutms": connectTimeout = try Self.milliseconds(name, value)
            case "sockettimeoutms": socketTimeout = try Self.milliseconds(name, value)
            case "serverselectiontimeoutms":
                serverSelectionTimeout = try Self.milliseconds(name, value)
            case "retryreads": retryReads = try Self.flag(name, value)
            case "retrywrites": retryWrites = try Self.flag(name, value)
            case "compressors": compressors = try Self.compressors(name, value)
            // Sync always reads and writes so; the options occur in URIs for other programs.
            case "w", "readconcernlevel": _ = try Self.choice(name, value, ["majority"])
            case "readpreference": _ = try Self.choice(name, value, ["primary"])
            default:
                throw ServerURI.refusal(
                    "the option \(name) is unknown; known are "
                        + Self.names.joined(separator: ", "))
            }
        }

        private static func flag(_ name: String, _ value: String) throws(RemoteError) -> Bool {
            switch value {
            case "true": return true
            case "false": return false
            default: throw refusal(name, value, "true or false")
            }
        }

        private static func text(
            _ name: String, _ value: String, bytesMax: Int = 4_096
        ) throws(RemoteError) -> String {
            guard !value.isEmpty, value.utf8.count <= bytesMax else {
                throw refusal(name, value, "a text of 1 to \(bytesMax) bytes")
            }
            return value
        }

        private static func choice(
            _ name: String, _ value: String, _ allowed: [String]
        ) throws(RemoteError) -> String {
            guard allowed.contains(value) else {
                throw refusal(name, value, allowed.joined(separator: " or "))
            }
            return value
        }

        /// Returns the methods of a list that are supported here, as drivers do.
        private static func compressors(
            _ name: String, _ value: String
        ) throws(RemoteError) -> [WireCompressor] {
            guard value != "none" else { return [] }
            var found: [WireCompressor] = []
            for part in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard ["snappy", "zlib", "zstd"].contains(part) else {
                    throw refusal(name, value, "none, or a list of snappy, zlib and zstd")
                }
                if let method = WireCompressor(name: String(part)), !found.contains(method) {
                    found.append(method)
                }
            }
            return found
        }

        private static func milliseconds(
            _ name: String, _ value: String
        ) throws(RemoteError) -> Duration {
            guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(value),
                number > 0
            else { throw refusal(name, value, "a number of milliseconds from 1 to \(Int32.max)") }
            return .milliseconds(Int64(number))
        }

        private static func refusal(
            _ name: String, _ value: String, _ allowed: String
        ) -> RemoteError {
            ServerURI.refusal("the option \(name) is \"\(value)\"; allowed is \(allowed)")
        }
    }
#endif
