#if CommandLine
    import ArgumentParser
    import BSONStore

    /// Names a store file and a collection in it.
    struct StoreArguments: ParsableArguments {
        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection, for example shop.products.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace

        /// Opens the store; only a store that may be written is made when it is not there.
        func open(readOnly: Bool = false) throws -> DocumentStore {
            try DocumentStore(at: .file(store), options: .init(readOnly: readOnly))
        }
    }

    extension DocumentStore {
        /// Opens a store that is there already.
        static func existing(_ path: String) throws -> DocumentStore {
            // For reading first, so that a file that is not there stays so.
            try DocumentStore(at: .file(path), options: .init(readOnly: true)).close()
            return try DocumentStore(at: .file(path))
        }
    }
#endif
