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
        var compression: CompressionChoice
        /// The counts of all bytes, of copies of the settings, too.
        let traffic = TrafficMeter()
        /// The time since any fixed moment, by which round trips are measured; tests pass their
        /// own.
        var elapsed: @Sendable () -> Duration = {
            let start = ContinuousClock.now
            return { ContinuousClock.now - start }
        }()
    }
#endif
