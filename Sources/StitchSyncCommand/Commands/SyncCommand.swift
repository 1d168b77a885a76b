#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that syncs a collection with a remote.
    struct SyncCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sync",
            abstract: "Sync a collection, or all of a store, with a remote.",
            discussion: """
                Syncs all documents of both sides, or those that --filter or --ids select. Later \
                runs sync these documents again. Only the named collection is synced; without \
                one, all collections of the store are, each with a line of its own. The remote is \
                a store file, which is created if it does not exist, a server that runs \
                `stitchsync serve`, or a MongoDB server.

                Examples:
                  stitchsync sync shop.stitch shop.products --remote remote.stitch --conflicts merge
                  stitchsync sync --db shop.stitch --namespace shop.products \\
                      --remote stitchsync://localhost:27017 --filter '{"price": {"$lt": 10}}' --watch

                Exit code: 0 when both sides are in step, and at the end of --watch; 1 when changes \
                are left, a write was rejected or the sync failed; 64 for a wrong command line.
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

        @Option(
            help: """
                How to resolve a document that both sides changed. remote-wins: take the remote's \
                document and discard the local change. local-wins: keep the local document and \
                overwrite the remote's. merge: keep the changes of both sides, field by field; \
                where both changed a field, numbers get both differences, strings and arrays both \
                additions, and other values become the remote's.
                """)
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
            guard place.namesCollection || filter == nil && ids == nil else {
                throw ValidationError("--filter and --ids need one collection; name it")
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
            let namespaces = try place.namespaces()
            let store = try place.open()
            let session = try await SyncSession(
                store: store, remote: address, namespace: namespaces[0],
                conflictHandler: conflicts.handler)
            let result: Result<Bool, any Error>
            do {
                result = .success(try await sync(namespaces, session))
            } catch {
                result = .failure(error)
            }
            await session.close()
            guard try result.get() else { throw ExitCode.failure }
        }

        /// Syncs one collection after another.
        ///
        /// - Returns: whether both sides are in step; `true` at the end of `--watch`.
        private func sync(_ namespaces: [Namespace], _ session: SyncSession) async throws -> Bool {
            let console = Console.standard
            var isInStep = true
            for (index, namespace) in namespaces.enumerated() {
                let current = index == 0 ? session : await session.session(of: namespace)
                let isDone = try await sync(current, isNamed: namespaces.count > 1)
                isInStep = isInStep && isDone
            }
            guard !json else { return isInStep }
            guard watch else {
                if isInStep { try console.say("in step") }
                return isInStep
            }
            try console.say("watching")
            try await session.watch(namespaces, until: StopSignals.stream(), on: console)
            try console.say("stopped")
            return true
        }

        /// Syncs a collection and prints the result.
        ///
        /// - Parameter isNamed: whether the lines begin with the collection.
        /// - Returns: whether both sides are in step.
        private func sync(_ session: SyncSession, isNamed: Bool) async throws -> Bool {
            let console = Console.standard
            let adopted = try await adopt(session)
            let outcome = try await session.run(label: "syncing", on: console.error)
            let namespace = session.collection.namespace
            for error in json ? outcome.errors : outcome.otherErrors {
                try console.warn("error: \(error)")
            }
            if outcome.after.synced == 0, outcome.after.stop == nil, outcome.errors.isEmpty {
                try console.warn(
                    "note: neither side has a document in \(namespace)"
                        + place.advice(for: namespace, among: session.names()))
            }
            if json {
                var object = BSONDocument()
                if isNamed { object.append("collection", .string(namespace.description)) }
                for (key, value) in outcome.document(adopted: adopted) {
                    object.append(key, value)
                }
                try console.say(object.extendedJSON(.relaxed))
                return outcome.isInStep
            }
            let report = outcome.report
            let title = isNamed ? "\(namespace): " : ""
            try console.say(
                "\(title)\(outcome.after.synced.counted("document")) synced, \(adopted) of them "
                    + "new: "
                    + "\(report.uploaded) sent, \(report.taken) taken, \(report.removed) removed, "
                    + "\(report.conflicts.counted("conflict")) resolved in "
                    + outcome.passes.counted("pass", plural: "passes"))
            for line in outcome.rejectedLines(store: place.path) { try console.say(line) }
            if !outcome.isInStep, !watch {
                try console.say(title + outcome.whyNotInStep(store: place.path))
            }
            return outcome.isInStep
        }

        /// Begins the sync of the selected documents.
        ///
        /// - Returns: the number of documents that were not synced before.
        private func adopt(_ session: SyncSession) async throws -> Int {
            if let ids { return try await session.adopt(ids) }
            return try await session.adopt(matching: filter ?? [:])
        }
    }

    /// The arguments for a store file and a collection or all, each by position or by option.
    struct SyncStoreArguments: ParsableArguments {
        @Argument(help: "The store's file.", completion: .file())
        var store: String?

        @Argument(
            help: """
                The collection as database.collection, for example shop.products; without one, \
                all collections of the store.
                """)
        var name: String?

        @Option(help: "The store's file.", completion: .file())
        var db: String?

        @Option(help: "The collection as database.collection.")
        var namespace: String?

        /// The store's files and the collections that were named; there is one file and at most
        /// one collection.
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
            guard named.collections.count <= 1 else {
                throw ValidationError("name one collection, as an argument or by --namespace")
            }
            _ = try collection()
        }

        /// Whether a collection is named.
        var namesCollection: Bool { !named.collections.isEmpty }

        /// Returns the named collection; `nil` for all.
        private func collection() throws -> Namespace? {
            guard let name = named.collections.first else { return nil }
            do {
                return try Namespace(parsing: name)
            } catch {
                throw ValidationError("\(error)")
            }
        }

        /// Returns the collections to sync: the named one, or all of the store.
        ///
        /// - Throws: `CommandError` if none is named and the store has none.
        func namespaces() throws -> [Namespace] {
            if let named = try collection() { return [named] }
            let store = try StoreOpening.existing(path)
            defer { store.close() }
            let found = try Self.namespaces(of: store)
            guard !found.isEmpty else {
                throw CommandError("\(path) has no collections; name the one to sync")
            }
            return found
        }

        /// Returns the collections of a store other than those of a server itself, in order.
        private static func namespaces(of store: DocumentStore) throws -> [Namespace] {
            let synced = try SyncEngine(lookingAt: store).syncedCollections()
            let all = try store.read { try $0.collections() }
            return Set(all + synced).filter { !$0.isOfServer }
                .sorted { $0.description < $1.description }
        }

        /// Returns what to add to a note about an empty collection: the name that may be meant.
        func advice(for namespace: Namespace, among names: [Namespace]) -> String {
            let others = names.filter { $0 != namespace }.map(\.description)
            let nearest = NearestName.of(namespace.description, among: others)
            return nearest.map { "; did you mean \($0)?" } ?? ""
        }

        /// Opens the store, and creates it with a note if it is missing.
        func open() throws -> DocumentStore {
            let isNew = FileIdentity(path) == nil
            let store = try StoreOpening.opened(path, readOnly: false)
            if isNew { try Console.standard.warn("created \(path)") }
            return store
        }

        /// The store's file.
        var path: String { named.files.first ?? "" }

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
            let named = try collection()
            var synced = 0
            for namespace in try named.map({ [$0] }) ?? Self.namespaces(of: store) {
                synced += try await engine.collection(namespace).status().synced
            }
            guard synced == 0 else {
                throw CommandError(
                    "\(remote): there is no such file, but \(synced.counted("document")) of "
                        + "\(path) are synced with a remote already (check the path)")
            }
        }
    }
#endif
