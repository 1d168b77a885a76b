extension [UInt8] {
    /// Calls a body with the bytes as `withUnsafeBytes` does, but with typed errors.
    @inlinable @inline(__always)
    package func withLentBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBufferPointer { (bytes) throws(E) -> R in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}
