#if CommandLine
    import ArgumentParser
    import BSONStore
    import class Foundation.FileManager
    import StitchSync

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
            let opened = try DocumentStore.opened(store, readOnly: readOnly)
            if readOnly { try noteWhereMissing(in: opened) }
            return opened
        }

        /// Opens the store, which must be there, for reading and writing.
        func existing() throws -> DocumentStore {
            let opened = try DocumentStore.existing(store)
            try noteWhereMissing(in: opened)
            return opened
        }

        /// Says on standard error when the store has no such collection, and which it has.
        private func noteWhereMissing(in opened: DocumentStore) throws {
            let names = try opened.read { try $0.collections() }
            guard !names.contains(namespace) else { return }
            let list = names.prefix(10).map(\.description).joined(separator: ", ")
            try Console.standard.warn(
                "note: \(store) has no collection \(namespace)"
                    + (list.isEmpty ? "; it has none" : "; it has \(list)"))
        }
    }

    /// Says which documents of a collection are meant.
    struct FilterArguments: ParsableArguments {
        @Argument(
            help: "The filter; all documents without one.",
            transform: { try BSONDocument(argument: $0) })
        var filter: BSONDocument = [:]
    }

    /// Says in which order documents come.
    struct SortArguments: ParsableArguments {
        @Option(
            help: "The fields to sort by: 1 upwards, -1 downwards.",
            transform: { try BSONDocument(argument: $0) })
        var sort: BSONDocument?

        /// The order; `nil` when none was said.
        func order() throws -> SortOrder? { try sort.map { try SortOrder($0) } }
    }

    extension BSONValue {
        /// A value that a command line has as Extended JSON.
        ///
        /// - Throws: `ValidationError`, which shows what the shell of MongoDB would have taken.
        init(argument text: String) throws {
            do {
                self = try BSONValue(extendedJSON: text)
            } catch {
                throw ValidationError(
                    "\(error) Extended JSON is expected, such as {\"name\": \"pen\"} or "
                        + #"{"_id": {"$oid": "5f0e9c2b1c9d440000a1b2c3"}}"#)
            }
        }

        /// A list of values that a command line has.
        static func list(argument text: String) throws -> [BSONValue] {
            guard let list = try BSONValue(argument: text).arrayValue else {
                throw ValidationError("it is not a list, such as [1, 2]")
            }
            return Array(list)
        }
    }

    extension BSONDocument {
        /// A document that a command line has as Extended JSON.
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
        /// An engine that looks at a store, and syncs with nobody.
        convenience init(lookingAt store: DocumentStore) throws {
            try self.init(store: store, remote: try InProcessRemote(at: .inMemory))
        }
    }

    extension DocumentStore {
        /// Opens a store that is there already.
        static func existing(_ path: String) throws -> DocumentStore {
            // For reading first, so that a file that is not there stays so.
            try opened(path, readOnly: true).close()
            do {
                return try DocumentStore(at: .file(path))
            } catch {
                let advice =
                    error.code == .readOnly
                    ? "; copy it, with what is beside it, to a folder that may be written" : ""
                throw CommandError(
                    "\(path) cannot be opened: \(error.message) (\(error.code))\(advice)")
            }
        }

        /// Opens a store for a look that writes nothing, also on a full disk or one for reading only.
        static func looking(at path: String) throws -> DocumentStore {
            try opened(path, .looking)
        }

        /// Opens a store, and names it where that fails.
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
