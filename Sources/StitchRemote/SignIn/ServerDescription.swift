#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// A server's description of itself in its reply to `hello`.
    ///
    /// Source: the drivers' specification "Server Discovery and Monitoring".
    struct ServerDescription: Sendable, Hashable {
        let isPrimary: Bool
        let setName: String?
        /// The other hosts of the replica set, the primary first.
        let hosts: [ServerAddress]
        let wireVersion: Int
        /// Whether the server keeps sessions and transaction numbers, so that a write can be
        /// repeated.
        let retriesWrites: Bool
        let hasSessions: Bool
        /// The parts of the server that MongoDB does not have.
        let extensions: Set<ServerExtension>
        /// Whether later messages of a connection are carried out while an earlier one waits.
        var isConcurrent: Bool { extensions.contains(.concurrent) }
        /// The names of the compression methods that the server agrees to.
        let compressors: [String]

        /// The largest number of hosts taken from one reply.
        private static let hostsMax = 50

        init(_ hello: BSONDocument) {
            isPrimary =
                (hello["isWritablePrimary"] ?? hello["ismaster"])?.boolValue ?? false
            setName = hello["setName"]?.stringValue
            let named =
                [hello["primary"]].compactMap { $0?.stringValue }
                + (hello["hosts"]?.arrayValue?.compactMap(\.stringValue) ?? [])
            var hosts: [ServerAddress] = []
            for address in named.prefix(Self.hostsMax).compactMap({ ServerAddress($0) })
            where !hosts.contains(address) { hosts.append(address) }
            self.hosts = hosts
            wireVersion =
                hello["maxWireVersion"]?.int64Value.map { Int(truncatingIfNeeded: $0) } ?? 0
            hasSessions = hello["logicalSessionTimeoutMinutes"]?.int64Value != nil
            retriesWrites = hasSessions && (setName != nil || hello["msg"] == "isdbgrid")
            compressors = hello["compression"]?.arrayValue?.compactMap(\.stringValue) ?? []
            extensions = Set(ServerExtension.allCases.filter { $0.isNamed(in: hello) })
        }
    }
#endif
