#if Remote
    internal import BSONStore

    /// The bytes that a remote has sent and received, without the encryption and TCP.
    ///
    /// ```swift
    /// let traffic = remote.traffic
    /// print("\(traffic.receivedBytes) bytes received, \(Int(traffic.ratio * 100)) % of all")
    /// ```
    public struct RemoteTraffic: Sendable, Hashable {
        /// The bytes of requests as they were sent.
        public internal(set) var sentBytes = 0
        /// The bytes of requests before compression.
        public internal(set) var sentPlainBytes = 0
        /// The bytes of replies as they arrived.
        public internal(set) var receivedBytes = 0
        /// The bytes of replies after decompression.
        public internal(set) var receivedPlainBytes = 0

        /// Makes counts of zero.
        public init() {}

        /// The bytes on the wire in both directions, divided by those without compression; 1 if
        /// there are none.
        public var ratio: Double {
            let plain = sentPlainBytes + receivedPlainBytes
            return plain == 0 ? 1 : Double(sentBytes + receivedBytes) / Double(plain)
        }
    }
#endif
