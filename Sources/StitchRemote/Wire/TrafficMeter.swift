#if Remote
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire

    /// The counts of the bytes of all connections of a remote.
    final class TrafficMeter: Sendable {
        private let state = Locked(RemoteTraffic())

        /// The counts so far.
        var current: RemoteTraffic { state.withLock { $0 } }

        /// Counts a request.
        ///
        /// - Parameter plainCount: its size before compression.
        func noteSent(_ count: Int, plainCount: Int) {
            state.withLock { traffic in
                traffic.sentBytes += count
                traffic.sentPlainBytes += plainCount
            }
        }

        /// Counts a reply, which may be invalid.
        func noteReceived(_ message: ByteBuffer, _ limits: WireLimits) {
            let count = message.readableBytes
            let plainCount = Self.plainCount(message, limits) ?? count
            state.withLock { traffic in
                traffic.receivedBytes += count
                traffic.receivedPlainBytes += plainCount
            }
        }

        /// Returns the size that a compressed message announces; `nil` for others.
        private static func plainCount(_ message: ByteBuffer, _ limits: WireLimits) -> Int? {
            message.withUnsafeReadableBytes { bytes in
                do throws(WireError) {
                    return try WireCompression(bytes, limits).map {
                        WireHeader.byteCount + $0.expandedCount
                    }
                } catch {
                    // The request that waits for the reply reports the error.
                    return nil
                }
            }
        }
    }
#endif
