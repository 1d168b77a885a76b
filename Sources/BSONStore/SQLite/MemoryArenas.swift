internal import BSONStoreCSQLite

/// Are the places from which the C library hands out memory.
package enum MemoryArenas {
    /// Lets there be so many at most; called before a program starts its threads.
    ///
    /// By itself glibc has eight for each processor. What a thread frees stays in the place that it
    /// came from, so that a server of many threads keeps free memory in each of them.
    package static func limit(to count: Int) {
        bsonstore_limit_arenas(Int32(clamping: max(1, count)))
    }
}
