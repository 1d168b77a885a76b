internal import BSONStoreCSQLite
#if canImport(Glibc)
    internal import Glibc
#endif

/// The arenas from which the C library allocates memory.
package enum MemoryArenas {
    /// Limits the number of arenas; call it before the program starts its threads.
    ///
    /// By default glibc has eight for each processor. Freed memory stays in its arena, so that a
    /// server with many threads keeps free memory in each of them.
    package static func limit(to count: Int) {
        bsonstore_limit_arenas(Int32(clamping: max(1, count)))
    }

    /// Returns free memory to the system when the process holds more than a number of bytes.
    ///
    /// - Returns: whether memory was returned.
    @discardableResult
    package static func trim(above bytesMax: Int) -> Bool {
        #if canImport(Glibc)
            let taken = Int(clamping: bsonstore_bytes_taken())
            guard taken > 0, let resident, resident - taken > bytesMax else { return false }
            bsonstore_trim()
            return true
        #else
            return false
        #endif
    }

    #if canImport(Glibc)
        /// The resident memory of the process in bytes; `nil` where the system does not report it.
        package static var resident: Int? {
            let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 128)
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return nil }
            let fields = buffer[..<count].split(separator: UInt8(ascii: " "))
            guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self))
            else { return nil }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    #endif
}
