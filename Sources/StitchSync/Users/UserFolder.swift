internal import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The folder of a user's store: its name is a hash of the user's id, and a file in it holds the
/// id.
///
/// A hash supports ids of any length and characters and keeps them out of paths.
struct UserFolder {
    private let directory: String
    private let userID: String

    private static let prefix = "u-"
    private static let idName = "user-id"

    init(of userID: String, in directory: String) {
        self.directory = directory
        self.userID = userID
    }

    /// The path of the store's file.
    var storePath: String { path + "/documents.db" }

    /// The secret that opens the store.
    var secret: BoundSecret { BoundSecret(path: path + "/secret") }

    private var path: String { directory + "/" + name }

    private var name: String {
        let hash = (["user": .string(userID)] as BSONDocument).contentHash()
        return Self.prefix + Self.hex(hash.bytes)
    }

    /// Makes the folder.
    ///
    /// - Throws: `SyncError` of code `.storeFailed` when the folder belongs to another user, whose
    ///   id has the same hash; errors of the file system.
    func make() throws {
        let files = FileManager.default
        if let owner = try Self.userID(at: path) {
            guard Array(owner.utf8) == Array(userID.utf8) else {
                throw SyncError(.storeFailed, "the folder \(name) is another user's")
            }
            return
        }
        try files.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // An atomic write, since a part of an id could be another user's id.
        let idPath = path + "/" + Self.idName
        try Data(userID.utf8).write(to: URL(filePath: idPath), options: .atomic)
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: idPath)
    }

    /// Removes the folder with its content.
    ///
    /// - Throws: as ``make()`` does; another user's folder stays.
    func remove() throws {
        try make()
        try FileManager.default.removeItem(atPath: path)
    }

    /// Returns the ids of the users with folders in a directory, sorted.
    static func userIDs(in directory: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: directory)
            .compactMap { name in
                name.hasBytePrefix(prefix) ? try userID(at: directory + "/" + name) : nil
            }
            .sorted()
    }

    private static func userID(at path: String) throws -> String? {
        let idPath = path + "/" + idName
        guard FileManager.default.fileExists(atPath: idPath) else { return nil }
        let bytes = try Data(contentsOf: URL(filePath: idPath))
        // A power failure may leave an empty file.
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
