/// The place where the documents are kept.
public enum StoreLocation: Sendable, Hashable {
    /// A file with its `-wal` and `-shm` companions; created when missing.
    case file(String)
    /// Memory, until the store is closed.
    case inMemory
}

/// The storage that a commit waits for.
public enum StoreDurability: Sendable, Hashable {
    /// The disk: a commit survives a power failure.
    case full
    /// The operating system: a power failure may undo the last commits but damages nothing.
    case normal
}

/// The changes that a file's feed keeps.
public enum StoreChangeHistory: Sendable, Hashable {
    /// As the file's own setting says; a new file keeps none.
    case asStored
    /// None; recorded changes are removed.
    case off
    /// The newest changes, at least the newest one.
    case keep(changesMax: Int)
}

/// The treatment of deleted or replaced bytes in the file.
public enum StoreSecureDelete: String, Sendable, Hashable {
    /// The bytes stay until the space is reused.
    case off
    /// The bytes are overwritten in pages that are written anyway; freed pages keep theirs
    /// until reuse.
    case fast
    /// The bytes are overwritten, which writes every freed page.
    case full
}

/// The settings of a store; the defaults are safe.
public struct StoreOptions: Sendable {
    /// The storage that a commit waits for.
    public var durability: StoreDurability
    /// Whether to open an existing file for reading only, without any change to it.
    public var readOnly: Bool
    /// The longest wait of a write for another process, in milliseconds.
    public var busyTimeoutMS: Int32
    /// The changes to keep for ``DocumentStore/changes(after:in:limit:)``.
    public var changeHistory: StoreChangeHistory
    /// The time for which a store that keeps changes keeps tombstones beyond its feed; later writes
    /// remove expired tombstones step by step.
    public var tombstonesKept: Duration
    /// The page size of a new file in bytes: a power of two from 512 to 65,536.
    public var pageBytes: Int
    /// The largest page cache in KiB: this much for the writer and for the first reader, half
    /// for the second concurrent reader, and so on; at least 2 MiB each.
    public var cacheKiB: Int
    /// The raw key of an encrypted file for SQLCipher: 32 bytes, or 48 with a salt.
    ///
    /// A program linked with plain SQLite cannot open a store with a key (error 72).
    public var encryptionKey: [UInt8]?
    /// The treatment of deleted or replaced bytes.
    public var secureDelete: StoreSecureDelete
    /// The largest size of the file in pages, for tests of a full disk; 0 for no limit.
    package var pagesMax: Int
    /// The name of SQLite's VFS, for tests that make it fail.
    package var fileSystem: String?
    /// Whether to create no companion files and use no disk space; only with ``readOnly``.
    ///
    /// Meant for a single look; it may miss what other processes write meanwhile.
    package var leavesNoTrace = false
    /// A hook that adds in-memory tables to each connection of a store that leaves no trace.
    package var completesReader: (@Sendable (SQLiteConnection) throws(StoreError) -> Void)?
    /// The clock of deletions.
    package var clock: @Sendable () -> BSONDatetime = { .now }

    /// Makes settings; each omitted one has its default.
    public init(
        durability: StoreDurability = .full, readOnly: Bool = false, busyTimeoutMS: Int32 = 5_000,
        changeHistory: StoreChangeHistory = .asStored, pageBytes: Int = 8_192,
        cacheKiB: Int = 65_536, encryptionKey: [UInt8]? = nil,
        secureDelete: StoreSecureDelete = .fast, tombstonesKept: Duration = defaultTombstonesKept
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

extension StoreOptions {
    /// The default time for which tombstones are kept: 90 days.
    public static var defaultTombstonesKept: Duration { .seconds(90 * 86_400) }

    /// The time before which deletions may be forgotten, in milliseconds since 1970.
    var tombstonesFloor: Int64 {
        let (floor, isOver) = clock().milliseconds.subtractingReportingOverflow(
            tombstonesKept.milliseconds)
        return isOver ? .min : floor
    }

    /// The smallest page cache of a connection, in KiB.
    private static let cacheMinKiB = 2_048

    /// Returns the settings of a read connection.
    ///
    /// - Parameter number: how many other connections are open.
    func ofReader(_ number: Int) -> Self {
        var options = self
        options.cacheKiB = max(min(cacheKiB, Self.cacheMinKiB), cacheKiB >> number)
        return options
    }
}
