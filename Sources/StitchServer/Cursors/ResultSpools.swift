internal import BSONStore
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The temporary files for large results, within their bounds.
final class ResultSpools: Sendable {
    /// The size of a result that stays in memory, in bytes.
    static let memoryBytesMax = 4 * 1024 * 1024

    /// The bounds on the files.
    let budget: SpoolBudget
    /// The folder of the files.
    private let folder: String
    private let cursors: CursorTable

    /// - Parameter cursors: the cursors that end when their user needs room for another result.
    init(folder: String, budget: SpoolBudget, cursors: CursorTable) {
        self.folder = folder
        self.budget = budget
        self.cursors = cursors
    }

    /// Returns the folder of a store's file, whose disk is meant for documents; that for temporary
    /// files of a store in memory.
    static func folder(for store: DocumentStore) -> String {
        switch store.location {
        case .file(let path): URL(fileURLWithPath: path).deletingLastPathComponent().path
        case .inMemory: FileManager.default.temporaryDirectory.path
        }
    }

    /// Creates an empty file for a user.
    ///
    /// - Throws: 292 when the user or all users have too many, and the errors of the file.
    func open(for owner: CursorOwner) throws(StoreError) -> Spool {
        try takeRoom(files: 1, of: owner)
        do throws(StoreError) {
            return Spool(try SpoolFile(in: folder), owner, self)
        } catch {
            budget.give(bytes: 0, of: owner)
            throw error
        }
    }

    /// Takes room, for which the oldest large results of the same user end.
    ///
    /// - Throws: 292 if there is no such room.
    func takeRoom(
        bytes: Int = 0, files: Int = 0, of owner: CursorOwner
    ) throws(StoreError) {
        while let limit = budget.take(bytes: bytes, files: files, of: owner) {
            guard !cursors.endOldestSpooled(of: owner, limit) else { continue }
            throw StoreError(
                .queryExceededMemoryLimitNoDiskUseAllowed,
                "cannot keep the result: \(limit); read other cursors to the end or close them")
        }
    }
}
