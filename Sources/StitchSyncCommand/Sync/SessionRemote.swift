import BSONStore
import Foundation
import StitchMongo
import StitchRemote
import StitchSync

/// The remotes that a command line can name.
enum SessionRemote: Sendable {
    /// A store file of its own.
    case file(InProcessRemote)
    #if Remote
        /// A server that is reached by the remote in Swift.
        case server(ServerRemote)
    #endif
    #if MongoRemote
        /// A MongoDB server that is reached by libmongoc.
        case mongo(MongoRemote)
    #endif

    private static let options = DocumentStore.Options(
        changeHistory: .keep(changesMax: InProcessRemote.changesMax),
        cacheKiB: SyncSession.cacheKiB)

    /// Opens a remote by its name: the URI of a server or the path of a file.
    ///
    /// libmongoc takes the URIs of MongoDB where the program has it, for all that it knows of
    /// clusters.
    ///
    /// - Throws: `CommandError` for a file that cannot be opened, and for a URI that the program
    ///   was built without; `RemoteError` for an invalid URI.
    init(_ name: String) throws {
        guard Self.isServer(name) else {
            self = .file(try Self.file(at: name))
            return
        }
        #if MongoRemote
            if !name.hasBytePrefix(Self.ownScheme) {
                self = .mongo(try MongoRemote(uri: name))
                return
            }
        #endif
        #if Remote
            guard !name.hasBytePrefix(Self.lookupScheme) else {
                throw CommandError(
                    "\(Self.lookupScheme) needs libmongoc, which this stitchsync was built without; "
                        + "name the hosts by mongodb://, or build it with "
                        + "`swift build --traits Tool,MongoRemote`")
            }
            self = .server(try ServerRemote(name))
        #else
            throw Self.lacksServers
        #endif
    }

    /// The error of a program without `ServerRemote`.
    static var lacksServers: CommandError {
        CommandError(
            "this stitchsync was built without servers as remotes; build it with "
                + "`swift build --traits Tool`")
    }

    private static func file(at path: String) throws -> InProcessRemote {
        do {
            let store = try DocumentStore(at: .file(path), options: options)
            return InProcessRemote(store: store)
        } catch {
            throw CommandError("\(path) cannot be opened: \(error.message) (\(error.code))")
        }
    }

    /// Opens a remote by its name; a file must exist.
    init(existing name: String) throws {
        if !Self.isServer(name), !FileManager.default.fileExists(atPath: name) {
            throw CommandError("\(name): there is no such file")
        }
        try self.init(name)
    }

    private static let ownScheme = "stitchsync://"
    private static let lookupScheme = "mongodb+srv://"

    /// Whether a name is the URI of a server.
    static func isServer(_ name: String) -> Bool {
        [ownScheme, "mongodb://", lookupScheme].contains { name.hasBytePrefix($0) }
    }

    /// The remote itself.
    var remote: any Remote {
        switch self {
        case .file(let remote): remote
        #if Remote
            case .server(let remote): remote
        #endif
        #if MongoRemote
            case .mongo(let remote): remote
        #endif
        }
    }

    /// Returns the `_id`s of the remote's documents that match a filter.
    func ids(matching filter: BSONDocument, in namespace: Namespace) async throws -> [BSONValue] {
        switch self {
        case .file(let remote): try Self.ids(matching: filter, in: namespace, of: remote.store)
        #if Remote
            case .server(let remote): try await remote.ids(matching: filter, in: namespace)
        #endif
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
        #if Remote
            case .server(let remote): await remote.close()
        #endif
        #if MongoRemote
            case .mongo(let remote): await remote.close()
        #endif
        }
    }
}
