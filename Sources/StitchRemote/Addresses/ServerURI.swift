#if Remote
    internal import BSONStore
    internal import StitchSync

    /// The parts of a `stitchsync://` or `mongodb://` URI.
    ///
    /// Source: the drivers' specification "Connection String", of which it has the hosts, the
    /// credentials, the database and the options of ``URIOptions``.
    struct ServerURI: Sendable, Hashable {
        /// At least one host, each once.
        var hosts: [ServerAddress]
        var user: String?
        var password: String?
        var database: String?
        var options = URIOptions()

        /// The largest number of hosts; MongoDB's replica sets have at most 50 members.
        private static let hostsMax = 50

        /// Parses a URI.
        ///
        /// - Throws: `RemoteError` of class `.rejected` that describes the error; it does not
        ///   contain the password, however the URI is mistyped.
        init(_ text: String) throws(RemoteError) {
            guard let schemeEnd = text.ranges(of: "://").first else {
                throw Self.refusal("it must begin with stitchsync:// or mongodb://")
            }
            let scheme = text[..<schemeEnd.lowerBound].lowercased()
            guard scheme == "stitchsync" || scheme == "mongodb" else {
                let advice =
                    scheme == "mongodb+srv" ? "; list the hosts, as in mongodb://host1,host2" : ""
                throw Self.refusal("its scheme must be stitchsync or mongodb\(advice)")
            }
            var rest = text[schemeEnd.upperBound...]
            var query: Substring?
            if let mark = rest.firstIndex(of: "?") {
                query = rest[rest.index(after: mark)...]
                rest = rest[..<mark]
            }
            hosts = []
            if let at = rest.lastIndex(of: "@") {
                try readCredentials(rest[..<at])
                rest = rest[rest.index(after: at)...]
            }
            if let slash = rest.firstIndex(of: "/") {
                try readDatabase(rest[rest.index(after: slash)...])
                rest = rest[..<slash]
            }
            try readHosts(rest)
            if let query { options = try Self.options(query) }
            guard options.directConnection != true || hosts.count == 1 else {
                throw Self.refusal("directConnection=true needs exactly one host")
            }
        }

        /// Whether the only host is used as it is, whatever other hosts it names.
        ///
        /// As in libmongoc: so a host behind a router or a proxy is reached by the URI's address.
        var isDirect: Bool {
            options.directConnection ?? (hosts.count == 1 && options.replicaSet == nil)
        }

        private static func options(_ query: Substring) throws(RemoteError) -> URIOptions {
            do throws(RemoteError) {
                return try URIOptions(query)
            } catch {
                // The password may have the question mark; errors repeat what is behind it.
                guard query.contains("@") else { throw error }
                throw refusal(
                    "an option is not valid; write ? as %3F and @ as %40 in the user name and the "
                        + "password")
            }
        }

        private mutating func readCredentials(_ text: Substring) throws(RemoteError) {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            let name = try Self.decoded(text[..<colon], "the user name")
            guard !name.isEmpty else { throw Self.refusal("the user name before @ is missing") }
            user = name
            guard colon < text.endIndex else { return }
            let secret = text[text.index(after: colon)...]
            guard !secret.contains(where: { ":/@".contains($0) }) else {
                throw Self.refusal(
                    "write : as %3A, / as %2F and @ as %40 in the user name and the password")
            }
            password = try Self.decoded(secret, "the password")
        }

        private mutating func readDatabase(_ text: Substring) throws(RemoteError) {
            let name = try Self.decoded(text, "the database")
            guard !name.contains(where: { "/\\ \".$".contains($0) }) else {
                throw Self.refusal("the database has a character that no name may have")
            }
            database = name.isEmpty ? nil : name
        }

        private mutating func readHosts(_ text: Substring) throws(RemoteError) {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let address = ServerAddress(String(part)) else {
                    // Not repeated: without an @ the user and the password stand here.
                    throw Self.refusal(
                        "it names no host where one must be; write host, host:port or "
                            + "[IPv6 address]:port, and user:password@ before the first")
                }
                if !hosts.contains(address) { hosts.append(address) }
            }
            guard hosts.count <= Self.hostsMax else {
                throw Self.refusal("it lists more than \(Self.hostsMax) hosts")
            }
        }

        /// Decodes `%` and two hexadecimal digits.
        static func decoded(_ text: Substring, _ part: String) throws(RemoteError) -> String {
            guard let bytes = PercentEscapes.decoded(text) else {
                throw refusal("\(part) has a % without two hexadecimal digits (%25 is %)")
            }
            guard let decoded = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
                throw refusal("\(part) is not UTF-8, or has a null byte")
            }
            return decoded
        }

        /// Returns the URI of a call without a sign-in, and the app's database that it names.
        ///
        /// - Parameter whyWithoutUser: the end of the error for a URI with a user.
        static func ofStranger(
            _ text: String, _ whyWithoutUser: String
        ) throws(RemoteError) -> (ServerURI, database: String) {
            let uri = try ServerURI(text)
            guard uri.user == nil else { throw refusal("it has a user, but \(whyWithoutUser)") }
            guard let database = uri.database else { throw hasNoDatabase }
            return (uri, database)
        }

        /// The error for a URI that must name a database.
        static var hasNoDatabase: RemoteError {
            refusal("it has no database; write stitchsync://host/database")
        }

        static func refusal(_ reason: String) -> RemoteError {
            RemoteError(.rejected, "the URI cannot be used: \(reason)")
        }
    }
#endif
