#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The arguments for a store file and a collection in it.
    struct StoreArguments: ParsableArguments {
        @Argument(
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection, for example shop.products.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace

        /// Whether the store is a server.
        var isServer: Bool { SessionRemote.isServer(store) }

        private var file: StoredCollection { StoredCollection(store, namespace) }

        /// Opens the store; creates a missing file unless it is opened for reading only.
        func open(readOnly: Bool = false) throws -> DocumentStore {
            try file.open(readOnly: readOnly)
        }

        /// Opens an existing store for reading and writing.
        func existing() throws -> DocumentStore { try file.existing() }
    }

    /// The arguments for a store file, where a server cannot be used, and a collection in it.
    struct StoreFileArguments: ParsableArguments {
        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection, for example shop.products.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace

        private var file: StoredCollection { StoredCollection(store, namespace) }

        /// Opens the store for reading.
        func open(readOnly: Bool) throws -> DocumentStore { try file.open(readOnly: readOnly) }

        /// Opens an existing store for reading and writing.
        func existing() throws -> DocumentStore { try file.existing() }

        /// Returns the collection of an engine that syncs with no remote.
        ///
        /// - Throws: `CommandError` if neither the store nor the engine knows the collection.
        func synced(in opened: DocumentStore) throws -> SyncCollection<BSONDocument> {
            let engine = try SyncEngine(lookingAt: opened)
            let names = try opened.read { try $0.collections() } + engine.syncedCollections()
            guard names.contains(namespace) else {
                throw CommandError("\(store) has no collection \(namespace)")
            }
            return engine.collection(namespace)
        }
    }

    /// A collection of a store file.
    struct StoredCollection: Sendable {
        private let store: String
        private let namespace: Namespace

        init(_ store: String, _ namespace: Namespace) {
            self.store = store
            self.namespace = namespace
        }

        /// Opens the store; creates a missing file unless it is opened for reading only.
        func open(readOnly: Bool) throws -> DocumentStore {
            let opened = try StoreOpening.opened(store, readOnly: readOnly)
            if readOnly { try noteWhereMissing(in: opened) }
            return opened
        }

        /// Opens an existing store for reading and writing.
        func existing() throws -> DocumentStore {
            let opened = try StoreOpening.existing(store)
            try noteWhereMissing(in: opened)
            return opened
        }

        /// Warns on standard error if the store does not have the collection, and lists those it
        /// has.
        private func noteWhereMissing(in opened: DocumentStore) throws {
            let names = try opened.read { try $0.collections() }
            guard !names.contains(namespace) else { return }
            let list = names.prefix(10).map(\.description).joined(separator: ", ")
            try Console.standard.warn(
                "note: \(store) has no collection \(namespace)"
                    + (list.isEmpty ? "; it has no collections" : "; it has \(list)"))
        }
    }

    /// The argument that selects documents of a collection.
    struct FilterArguments: ParsableArguments {
        @Argument(
            help: "The filter; all documents without one.",
            transform: { try ExtendedJSONArgument.document($0) })
        var filter: BSONDocument = [:]
    }

    /// The option for the order of documents.
    struct SortArguments: ParsableArguments {
        @Option(
            help: "The fields to sort by: 1 ascending, -1 descending.",
            transform: { try ExtendedJSONArgument.document($0) })
        var sort: BSONDocument?
    }
#endif
