extension DocumentStore {
    /// Says where the documents are kept.
    public enum Location: Sendable, Hashable {
        /// In a file and its `-wal` and `-shm` neighbours; made when it is not there.
        case file(String)
        /// In memory until the store is closed.
        case inMemory
    }

    /// Says what a commit waits for.
    public enum Durability: Sendable, Hashable {
        /// For the disk: what was committed survives a power failure.
        case full
        /// For the operating system: a power failure may undo the last commits, nothing is damaged.
        case normal
    }

    /// Says which changes a file's change feed keeps.
    public enum ChangeHistory: Sendable, Hashable {
        /// What the file says; a new file keeps none.
        case asStored
        /// None; changes that were kept are dropped.
        case off
        /// The newest changes, at least the newest one.
        case keep(changesMax: Int)
    }

    /// Says what becomes of the bytes of what is deleted or replaced, in the file.
    public enum SecureDelete: String, Sendable, Hashable {
        /// They stay until something else is written there.
        case off
        /// They are overwritten in pages that are written anyway; pages that become free keep theirs
        /// until they are used again.
        case fast
        /// They are overwritten, which writes every page that becomes free.
        case full
    }

    /// Holds the settings of a store; the defaults are safe.
    public struct Options: Sendable {
        /// What a commit waits for.
        public var durability: Durability
        /// Opens a file that is there for reading only and changes nothing in it.
        public var readOnly: Bool
        /// How long a write waits for another process, in milliseconds.
        public var busyTimeoutMS: Int32
        /// Whether changes are kept for ``DocumentStore/changes(after:in:limit:)``.
        public var changeHistory: ChangeHistory
        /// How long a store that keeps changes knows of a deletion, beyond what its change feed tells:
        /// what is known is dropped by and by with later writes.
        public var tombstonesKept: Duration
        /// The page size of a new file in bytes: a power of two from 512 to 65,536.
        public var pageBytes: Int
        /// The page cache in KiB, an upper limit: so much for writing; for reading so much for the
        /// first connection, half for the second that reads at the same time, and so on, 2 MiB at least.
        public var cacheKiB: Int
        /// The key of an encrypted file, which SQLCipher takes as it is: 32 bytes, or 48 with a salt.
        ///
        /// A program that is linked with SQLite itself cannot open a store with a key: error 72.
        public var encryptionKey: [UInt8]?
        /// What becomes of the bytes of what is deleted or replaced.
        public var secureDelete: SecureDelete
        /// The largest size of the file in pages, for tests of a full disk; 0 for no limit.
        package var pagesMax: Int
        /// The name of SQLite's file system layer, for tests that let it fail.
        package var fileSystem: String?
        /// Makes no files beside the store's and takes no room on the disk, with ``readOnly``.
        ///
        /// Meant for one look; what other processes write meanwhile may not be seen.
        package var leavesNoTrace = false
        /// Completes each connection of a store that leaves no trace, with tables in its memory.
        package var completesReader: (@Sendable (SQLiteConnection) throws(StoreError) -> Void)?
        /// Tells the time of deletions.
        package var clock: @Sendable () -> BSONDatetime = { .now }

        /// Makes settings; what is left out has its default.
        public init(
            durability: Durability = .full, readOnly: Bool = false, busyTimeoutMS: Int32 = 5_000,
            changeHistory: ChangeHistory = .asStored, pageBytes: Int = 8_192,
            cacheKiB: Int = 65_536, encryptionKey: [UInt8]? = nil,
            secureDelete: SecureDelete = .fast, tombstonesKept: Duration = defaultTombstonesKept
        ) {
            self.durability = durability
            self.readOnly = readOnly
            self.busyTimeoutMS = busyTimeoutMS
            self.changeHistory = changeHistory
            self.pageBytes = pageBytes
            self.cacheKiB = cacheKiB
            self.encryptionKey = encryptionKey
            self.secureDelete = secureDelete
            self.tombstonesKept = tombstonesKept
            pagesMax = 0
        }
    }
}

extension DocumentStore.Options {
    /// How long deletions are known unless told: 90 days.
    public static var defaultTombstonesKept: Duration { .seconds(90 * 86_400) }

    /// Deletions before this time need not be known, in milliseconds since 1970.
    var tombstonesFloor: Int64 {
        let (floor, isOver) = clock().milliseconds.subtractingReportingOverflow(
            tombstonesKept.milliseconds)
        return isOver ? .min : floor
    }

    /// The page cache that every connection may have, in KiB.
    private static let cacheMinKiB = 2_048

    /// Returns the settings of a connection for reading.
    ///
    /// - Parameter number: how many are open beside it.
    func ofReader(_ number: Int) -> Self {
        var options = self
        options.cacheKiB = max(min(cacheKiB, Self.cacheMinKiB), cacheKiB >> number)
        return options
    }
}
