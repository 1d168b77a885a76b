#if CommandLine
    import ArgumentParser
    import BSONStore
    import class Foundation.FileManager
    import StitchSync

    /// The arguments for a store file and a collection in it.
    struct StoreArguments: ParsableArguments {
        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection, for example shop.products.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace

        /// Opens the store; creates a missing file unless it is opened for reading only.
        func open(readOnly: Bool = false) throws -> DocumentStore {
            let opened = try DocumentStore.opened(store, readOnly: readOnly)
            if readOnly { try noteWhereMissing(in: opened) }
            return opened
        }

        /// Opens an existing store for reading and writing.
        func existing() throws -> DocumentStore {
            let opened = try DocumentStore.existing(store)
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
            transform: { try BSONDocument(argument: $0) })
        var filter: BSONDocument = [:]
    }

    /// The option for the order of documents.
    struct SortArguments: ParsableArguments {
        @Option(
            help: "The fields to sort by: 1 ascending, -1 descending.",
            transform: { try BSONDocument(argument: $0) })
        var sort: BSONDocument?

        /// Returns the order; `nil` without the option.
        func order() throws -> SortOrder? { try sort.map { try SortOrder($0) } }
    }

    extension BSONValue {
        /// Reads a command-line value as Extended JSON.
        ///
        /// - Throws: `ValidationError` with an example of Extended JSON.
        init(argument text: String) throws {
            do {
                self = try BSONValue(extendedJSON: text)
            } catch {
                throw ValidationError(
                    "\(error) Extended JSON is expected, such as {\"name\": \"pen\"} or "
                        + #"{"_id": {"$oid": "5f0e9c2b1c9d440000a1b2c3"}}"#)
            }
        }

        /// Reads a list of values from the command line.
        static func list(argument text: String) throws -> [BSONValue] {
            guard let list = try BSONValue(argument: text).arrayValue else {
                throw ValidationError("it is not a list, such as [1, 2]")
            }
            return Array(list)
        }
    }

    extension BSONDocument {
        /// Reads a command-line value as a document.
        ///
        /// - Throws: `ValidationError`.
        init(argument text: String) throws {
            guard let document = try BSONValue(argument: text).documentValue else {
                throw ValidationError("it is not a document, such as {\"name\": \"pen\"}")
            }
            self = document
        }
    }

    extension SyncEngine {
        /// Creates an engine that reads a store and syncs with no remote.
        convenience init(lookingAt store: DocumentStore) throws {
            try self.init(store: store, remote: try InProcessRemote(at: .inMemory))
        }
    }

    extension DocumentStore {
        /// Opens an existing store.
        static func existing(_ path: String) throws -> DocumentStore {
            // Opened for reading first, so that a missing file is not created.
            try opened(path, readOnly: true).close()
            do {
                return try DocumentStore(at: .file(path))
            } catch {
                let advice =
                    error.code == .readOnly
                    ? "; copy it, with the files next to it, to a writable folder" : ""
                throw CommandError(
                    "\(path) cannot be opened: \(error.message) (\(error.code))\(advice)")
            }
        }

        /// Opens a store without writing anything, also on a full or read-only disk.
        static func looking(at path: String) throws -> DocumentStore {
            try opened(path, .looking)
        }

        /// Opens a store; errors name the file.
        static func opened(_ path: String, readOnly: Bool) throws -> DocumentStore {
            try opened(path, .init(readOnly: readOnly))
        }

        private static func opened(_ path: String, _ options: Options) throws -> DocumentStore {
            if options.readOnly, !FileManager.default.fileExists(atPath: path) {
                throw CommandError("\(path): there is no such file")
            }
            do {
                return try DocumentStore(at: .file(path), options: options)
            } catch {
                throw CommandError("\(path) cannot be opened: \(error.message) (\(error.code))")
            }
        }
    }
#endif
