internal import BSONStoreCSQLite
#if canImport(Glibc)
    internal import Glibc
#endif

/// The C library's arenas, from which it hands out memory.
package enum MemoryArenas {
    /// The free bytes that an arena keeps at its end.
    package static let keptMax = 8 * 1024 * 1024
    /// The size from which on a block lies in no arena: freeing it gives it back to the system.
    package static let mappedMin = 4 * 1024 * 1024

    /// Limits how many arenas there are and what each keeps.
    ///
    /// A program calls this before it starts its threads. By itself glibc has eight arenas for each
    /// processor, and each of them keeps up to 64 MiB that its threads freed.
    package static func limit(to count: Int) {
        bsonstore_limit_arenas(
            Int32(clamping: max(1, count)), Int32(keptMax), Int32(mappedMin))
    }

    /// Returns free memory to the system when the process holds more than a number of bytes.
    ///
    /// - Returns: whether memory was returned.
    @discardableResult
    package static func trim(above bytesMax: Int) -> Bool {
        #if canImport(Glibc)
            guard let taken, let resident, resident - taken > bytesMax else { return false }
            bsonstore_trim()
            return true
        #else
            return false
        #endif
    }

    /// The bytes that the process has allocated and not freed; `nil` where the C library has no count.
    package static var taken: Int? {
        let taken = Int(clamping: bsonstore_bytes_taken())
        return taken > 0 ? taken : nil
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
