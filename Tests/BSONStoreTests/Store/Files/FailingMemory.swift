internal import BSONStoreCSQLite

@testable import BSONStore

/// Lets SQLite's allocations fail: one of them, or all from one on.
///
/// Holds for the whole process and has to be installed before SQLite is used: for a process of its own.
enum FailingMemory {
    /// Puts methods that may fail in the place of SQLite's.
    ///
    /// Source: https://www.sqlite.org/c3ref/mem_methods.html
    static func install() -> Bool {
        var own = sqlite3_mem_methods()
        guard bsonstore_sqlite3_get_memory(&own) == SQLITE_OK else { return false }
        system = own
        own.xMalloc = { count in
            FailingFileSystem.fails(.allocation) ? nil : FailingMemory.system.xMalloc(count)
        }
        own.xRealloc = { memory, count in
            FailingFileSystem.fails(.allocation)
                ? nil : FailingMemory.system.xRealloc(memory, count)
        }
        return bsonstore_sqlite3_set_memory(&own) == SQLITE_OK
    }

    /// Written once, before any other thread asks.
    nonisolated(unsafe) private static var system = sqlite3_mem_methods()
}
