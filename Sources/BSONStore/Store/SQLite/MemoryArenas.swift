internal import BSONStoreCSQLite
#if canImport(Glibc)
    internal import Glibc
#endif

/// Are the places from which the C library hands out memory.
package enum MemoryArenas {
    /// Lets there be so many at most; called before a program starts its threads.
    ///
    /// By itself glibc has eight for each processor. What a thread frees stays in the place that it
    /// came from, so that a server of many threads keeps free memory in each of them.
    package static func limit(to count: Int) {
        bsonstore_limit_arenas(Int32(clamping: max(1, count)))
    }

    /// Returns free memory back to the system when more than so many bytes of it are held.
    ///
    /// - Returns: whether some was given back.
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
        /// How many bytes of the process are in memory; `nil` where the system does not tell.
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
