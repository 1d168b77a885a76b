#if Remote
    internal import BSONStore

    /// The settings of a remote's connections.
    struct ConnectionSettings: Sendable {
        var credentials: CurrentCredentials
        var security: TransportSecurity?
        var connectTimeout: Duration
        var socketTimeout: Duration
        var serverSelectionTimeout: Duration
        var requestsMax: Int
        var followersMax: Int
        var replicaSet: String?
        var isDirect: Bool
        var retriesReads: Bool
        var retriesWrites: Bool
        var usesBulkWrite: Bool?
    }
#endif
