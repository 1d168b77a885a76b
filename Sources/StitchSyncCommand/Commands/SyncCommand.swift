#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that syncs a collection with a remote.
    struct SyncCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sync",
            abstract: "Sync a collection with a remote.",
            discussion: """
                Syncs all documents of both sides, or those that --filter or --ids select. Later \
                runs sync these documents again. The remote is a store file, which is created if \
                it does not exist, a server that runs `stitchsync serve`, or a MongoDB server.

                Examples:
                  stitchsync sync shop.stitch shop.products --remote remote.stitch --conflicts merge
                  stitchsync sync --db shop.stitch --namespace shop.products \\
                      --remote stitchsync://localhost:27017 --filter '{"price": {"$lt": 10}}' --watch

                Exit code: 0 when both sides are in step, and at the end of --watch; 1 when changes \
                are left or the sync failed; 64 for a wrong command line.
                """)

        /// The handler for documents that both sides changed.
        enum Conflicts: String, CaseIterable, ExpressibleByArgument {
            case remoteWins = "remote-wins"
            case localWins = "local-wins"
            case merge

            var handler: ConflictHandler<BSONDocument> {
                switch self {
                case .remoteWins: .remoteWins
                case .localWins: .localWins
                case .merge: ConflictHandler { FieldMerge.resolution(of: $0) }
                }
            }
        }

        @OptionGroup var place: SyncStoreArguments

        @Option(
            help:
                "The remote's store file, or a server: stitchsync://HOST:PORT, mongodb://HOST:PORT.",
            completion: .file())
        var remote: String

        @Option(help: "How to resolve a document that both sides changed.")
        var conflicts = Conflicts.remoteWins

        @Option(
            help: "Only documents that match this filter, in Extended JSON.",
            transform: { try ExtendedJSONArgument.document($0) })
        var filter: BSONDocument?

        @Option(
            help: "Only documents with these _ids, a list in Extended JSON.",
            transform: { try ExtendedJSONArgument.list($0) })
        var ids: [BSONValue]?

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Keep syncing until SIGTERM or SIGINT.")
        var watch = false

        // It changes nothing; scripts name it to say what they mean.
        @Flag(help: "Exit when both sides are in step; the default. Excludes --watch.")
        var once = false

        @Flag(help: "Write one JSON object.")
        var json = false

        func validate() throws {
            guard !(watch && json) else {
                throw ValidationError("--watch and --json exclude each other; give one of them")
            }
            try place.checkArguments()
            guard SessionRemote.isServer(remote) || !remote.contains("://") else {
                throw ValidationError(
                    "--remote takes a store's file, stitchsync://HOST:PORT or mongodb://HOST:PORT")
            }
            guard filter == nil || ids == nil else {
                throw ValidationError("--filter and --ids exclude each other; give one of them")
            }
            guard !(watch && once) else {
                throw ValidationError("--watch and --once exclude each other; give one of them")
            }
        }

        func run() async throws {
            try await place.checkRemote(remote)
            let address = try signIn.address(of: remote)
            let session = try await SyncSession(
                store: try place.open(), remote: address, namespace: try place.collection(),
                conflictHandler: conflicts.handler)
            let result: Result<Bool, any Error>
            do { result = .success(try await sync(session)) } catch { result = .failure(error) }
            await session.close()
            guard try result.get() else { throw ExitCode.failure }
        }

        /// - Returns: whether both sides are in step; `true` at the end of `--watch`.
        private func sync(_ session: SyncSession) async throws -> Bool {
            let console = Console.standard
            let adopted = try await adopt(session)
            let outcome = try await session.run(label: "syncing", on: console.error)
            for error in outcome.errors { try console.warn("error: \(error)") }
            if json {
                try console.say(outcome.document(adopted: adopted).extendedJSON(.relaxed))
                return outcome.isInStep
            }
            let report = outcome.report
            try console.say(
                "\(outcome.after.synced.counted("document")) synced, \(adopted) of them new: "
                    + "\(report.uploaded) sent, \(report.taken) taken, \(report.removed) removed, "
                    + "\(report.conflicts.counted("conflict")) resolved in "
                    + outcome.passes.counted("pass", plural: "passes"))
            if watch {
                try console.say("watching")
                try await session.watch(until: StopSignals.stream())
            }
            guard outcome.isInStep || watch else {
                try console.say(outcome.whyNotInStep)
                return false
            }
            try console.say(watch ? "stopped" : "in step")
            return true
        }

        /// Begins the sync of the selected documents.
        ///
        /// - Returns: the number of documents that were not synced before.
        private func adopt(_ session: SyncSession) async throws -> Int {
            if let ids { return try await session.adopt(ids) }
            return try await session.adopt(matching: filter ?? [:])
        }
    }

    /// The arguments for a store file and a collection, each by position or by option.
    struct SyncStoreArguments: ParsableArguments {
        @Argument(help: "The store's file.", completion: .file())
        var store: String?

        @Argument(help: "The collection as database.collection, for example shop.products.")
        var name: String?

        @Option(help: "The store's file.", completion: .file())
        var db: String?

        @Option(help: "The collection as database.collection.")
        var namespace: String?

        /// The store's files and the collections that were named; there has to be one of each.
        ///
        /// Beside `--db` an argument names the collection.
        private var named: (files: [String], collections: [String]) {
            let arguments = [store, name].compactMap(\.self)
            guard let db else {
                return (
                    Array(arguments.prefix(1)),
                    Array(arguments.dropFirst()) + [namespace].compactMap(\.self)
                )
            }
            return ([db], arguments + [namespace].compactMap(\.self))
        }

        /// - Throws: `ValidationError` when one is missing or given twice.
        func checkArguments() throws {
            guard named.files.count == 1 else {
                throw ValidationError("name the store's file, as an argument or by --db")
            }
            guard named.collections.count == 1 else {
                throw ValidationError("name one collection, as an argument or by --namespace")
            }
            _ = try collection()
        }

        /// Returns the collection.
        func collection() throws -> Namespace {
            do {
                return try Namespace(parsing: named.collections.first ?? "")
            } catch {
                throw ValidationError("\(error)")
            }
        }

        /// Opens the store, and creates it if it is missing.
        func open() throws -> DocumentStore {
            try StoreOpening.opened(path, readOnly: false)
        }

        private var path: String { named.files.first ?? "" }

        /// - Throws: `CommandError` for a remote that would break an existing sync: the store
        ///   itself, or a missing file, which a typo would create.
        func checkRemote(_ remote: String) async throws {
            guard !SessionRemote.isServer(remote) else { return }
            guard remote != path, !FileIdentity.isSame(remote, path) else {
                throw CommandError("\(path) cannot be its own remote")
            }
            // Only a new remote for a store that exists may be a typo.
            guard FileIdentity(remote) == nil, FileIdentity(path) != nil else { return }
            let store = try StoreOpening.existing(path)
            defer { store.close() }
            let engine = try SyncEngine(lookingAt: store)
            let synced = try await engine.collection(collection()).status().synced
            guard synced == 0 else {
                throw CommandError(
                    "\(remote): there is no such file, but \(synced.counted("document")) of "
                        + "\(path) are synced with a remote already (check the path)")
            }
        }
    }
#endif
