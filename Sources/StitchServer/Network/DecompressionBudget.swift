#if Server
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire

    /// Bounds what compressed messages take in memory, all of them together.
    enum DecompressionBudget {
        /// Messages that are being carried out have at most so many bytes when they are expanded.
        static let bytesMax = 256 << 20

        private static let taken = Locked(0)

        /// Takes the room that a message needs; how much that is.
        ///
        /// - Throws: `WireError` when there is none left, and for what is no compressed message.
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

        /// Gives room back.
        static func give(_ count: Int) {
            guard count > 0 else { return }
            taken.withLock { $0 -= count }
        }
    }
#endif
