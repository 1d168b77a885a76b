#if Server
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire

    /// The memory limit for decompressed messages of all connections together.
    enum DecompressionBudget {
        /// The total decompressed size of messages in progress, in bytes.
        static let bytesMax = 256 << 20

        private static let taken = Locked(0)

        /// Reserves memory for a message and returns the number of bytes.
        ///
        /// - Throws: `WireError` when the limit is reached, and for an invalid compressed
        ///   message.
        static func take(_ message: ByteBuffer, _ limits: WireLimits) throws -> Int {
            let compression = try message.withUnsafeReadableBytes { (bytes) throws in
                try WireCompression(bytes, limits)
            }
            guard let count = compression?.expandedCount else { return 0 }
            let isThere = taken.withLock { taken in
                guard taken + count <= bytesMax else { return false }
                taken += count
                return true
            }
            guard isThere else { throw WireError.malformed("no room to expand it") }
            return count
        }

        /// Releases reserved memory.
        static func give(_ count: Int) {
            guard count > 0 else { return }
            taken.withLock { $0 -= count }
        }
    }
#endif
