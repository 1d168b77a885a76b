internal import BSONStore

/// A file with documents of one result, which counts for its user as long as it exists.
final class Spool: Sendable {
    private let file: SpoolFile
    private let owner: CursorOwner
    private let spools: ResultSpools
    /// The bytes that count, also those of a write that failed.
    private let takenBytes = Locked(0)

    /// Takes a file that is counted already.
    init(_ file: SpoolFile, _ owner: CursorOwner, _ spools: ResultSpools) {
        self.file = file
        self.owner = owner
        self.spools = spools
    }

    deinit { spools.budget.give(bytes: takenBytes.withLock { $0 }, of: owner) }

    /// The size in bytes.
    var byteCount: Int { file.byteCount }

    /// Writes encoded documents at the end.
    ///
    /// - Throws: 292 when the user or all users have too much, 14031 for a full disk.
    func append(_ bytes: [UInt8]) throws(StoreError) {
        try spools.takeRoom(bytes: bytes.count, of: owner)
        takenBytes.withLock { $0 += bytes.count }
        try file.append(bytes)
    }

    /// Reads bytes; fewer only at the end.
    ///
    /// - Throws: 39 (FileStreamFailed).
    func read(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
        try file.read(at: offset, count: count)
    }
}
