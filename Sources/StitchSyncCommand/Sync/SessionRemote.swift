import BSONStore
import Foundation
import StitchMongo
import StitchSync

/// The remotes that a command line can name.
enum SessionRemote: Sendable {
    /// A store file of its own.
    case file(InProcessRemote)
    #if MongoRemote
        /// A MongoDB server.
        case mongo(MongoRemote)
    #endif

    private static let options = DocumentStore.Options(
        changeHistory: .keep(changesMax: InProcessRemote.changesMax),
        cacheKiB: SyncSession.cacheKiB)

    /// Opens a remote by its name: a MongoDB URI or the path of a file.
    ///
    /// - Throws: `CommandError` for a file that cannot be opened, and for a URI if the program
    ///   was built without MongoDB; `RemoteError` for an invalid URI.
    init(_ name: String) throws {
        guard Self.isMongoDB(name) else {
            do {
                let store = try DocumentStore(at: .file(name), options: Self.options)
                self = .file(InProcessRemote(store: store))
            } catch {
                throw CommandError("\(name) cannot be opened: \(error.message) (\(error.code))")
            }
            return
        }
        #if MongoRemote
            self = .mongo(try MongoRemote(uri: name))
        #else
            throw CommandError(
                "this stitchsync was built without MongoDB; build it with "
                    + "`swift build --traits CommandLine,Server,MongoRemote`, which needs libmongoc"
            )
        #endif
    }

    /// Opens a remote by its name; a file must exist.
    init(existing name: String) throws {
        if !Self.isMongoDB(name), !FileManager.default.fileExists(atPath: name) {
            throw CommandError("\(name): there is no such file")
        }
        try self.init(name)
    }

    /// Whether a name is a MongoDB URI.
    static func isMongoDB(_ name: String) -> Bool {
        name.hasPrefix("mongodb://") || name.hasPrefix("mongodb+srv://")
    }

    /// The remote itself.
    var remote: any Remote {
        switch self {
        case .file(let remote): remote
        #if MongoRemote
            case .mongo(let remote): remote
        #endif
        }
    }

    /// Returns the `_id`s of the remote's documents that match a filter.
    func ids(matching filter: BSONDocument, in namespace: Namespace) async throws -> [BSONValue] {
        switch self {
        case .file(let remote): try Self.ids(matching: filter, in: namespace, of: remote.store)
        #if MongoRemote
            case .mongo(let remote): try await remote.ids(matching: filter, in: namespace)
        #endif
        }
    }

    /// Returns the `_id`s of a store's documents that match a filter.
    static func ids(
        matching filter: BSONDocument, in namespace: Namespace, of store: DocumentStore
    ) throws -> [BSONValue] {
        let filter = try Filter(filter)
        var ids: [BSONValue] = []
        try store.read { transaction in
            try transaction.forEach(namespace) { document in
                if filter.matches(document) { ids.append(document["_id"] ?? .null) }
            }
        }
        return ids
    }

    /// Closes the remote.
    func close() async {
        switch self {
        case .file(let remote): remote.store.close()
        #if MongoRemote
            case .mongo(let remote): await remote.close()
        #endif
        }
    }
}
