#if Server
    internal import StitchZlibC

    /// The compression to zlib streams by the system's zlib.
    ///
    /// Source: RFC 1950 and RFC 1951.
    package enum Zlib {
        /// The largest number of bytes that one byte of a stream expands to: two bits repeat 258.
        private static let ratioMax = 1_032

        /// Decompresses a stream into memory of exactly the required size.
        ///
        /// - Parameter count: the required size of the result in bytes. A size that the stream
        ///   cannot reach reserves no memory.
        /// - Throws: `WireError.malformed` for an invalid stream, another size or a wrong checksum.
        package static func expand(
            _ bytes: UnsafeRawBufferPointer, count: Int
        ) throws(WireError) -> [UInt8] {
            guard count >= 0, count <= bytes.count * ratioMax else { throw .invalidCompression }
            var (result, expandedCount) = (Z_OK, uLongf(count))
            let output = [UInt8](unsafeUninitializedCapacity: count) { output, filled in
                result = uncompress(
                    output.baseAddress, &expandedCount,
                    bytes.bindMemory(to: UInt8.self).baseAddress, uLong(bytes.count))
                // Never more than the capacity, which zlib was given.
                filled = result == Z_OK ? Int(expandedCount) : 0
            }
            guard result != Z_MEM_ERROR else { throw .malformed("no memory to decompress it") }
            guard result == Z_OK, output.count == count else { throw .invalidCompression }
            return output
        }

        /// Returns the stream of some bytes at the fastest level; `nil` when zlib gets no memory.
        package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
            let capacity = compressBound(uLong(bytes.count))
            var isCompressed = false
            let output = [UInt8](unsafeUninitializedCapacity: Int(capacity)) { output, filled in
                var count = uLongf(capacity)
                isCompressed =
                    compress2(
                        output.baseAddress, &count, bytes, uLong(bytes.count), Z_BEST_SPEED)
                    == Z_OK
                filled = isCompressed ? Int(count) : 0
            }
            return isCompressed ? output : nil
        }
    }
#endif
