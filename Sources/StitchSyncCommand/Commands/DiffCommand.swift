#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that shows base, local and remote of one document.
    struct DiffCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Show base, local and remote of one document.",
            discussion: """
                The base is the version that the remote confirmed last; local and remote are \
                compared with it field by field. The remote version is that of the last conflict, \
                or the current one with --remote; where it is unknown, the output says so.

                Examples:
                  stitchsync diff shop.stitch shop.products 7
                  stitchsync diff shop.stitch shop.products '"a17"' --remote remote.stitch --json

                Exit code: 0 even when nothing differs, 1 when the document does not exist or the \
                store cannot be read, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreFileArguments

        @Argument(help: "The document's _id, in Extended JSON or as plain text.")
        var id: String

        @Option(
            help: "Read the current version from a remote: a store file or the URI of a server.",
            completion: .file())
        var remote: String?

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Show unchanged fields, and values as a whole.")
        var all = false

        @Flag(help: "Write one JSON object.")
        var json = false

        @OptionGroup var colours: ColourArguments

        func validate() throws {
            if remote == nil, let option = signIn.firstOption {
                throw ValidationError("\(option) needs --remote with a server")
            }
            guard let first = id.first, "{[\"".contains(first) else { return }
            _ = try ExtendedJSONArgument.value(id)
        }

        func run() async throws {
            let console = Console.standard
            let store = try place.existing()
            defer { store.close() }
            let engine = try SyncEngine(lookingAt: store)
            let editions = try editions(engine)
            let conflict = try engine.journaledConflicts().last { conflict in
                conflict.namespace == place.namespace
                    && conflict.documentID == editions.documentID
            }
            let diff = DocumentDiff(
                namespace: place.namespace, editions: editions,
                remote: try await ask(editions.documentID)
                    ?? RemoteKnowledge(editions, conflict),
                conflict: conflict, showsAll: all)
            if json { return try console.say(diff.document.extendedJSON(.canonical)) }
            let style = TextStyle(colours.color, on: console.output)
            for line in diff.lines(style) { try console.say(line) }
        }

        /// Returns the document under one of the ids that the text may stand for.
        private func editions(_ engine: SyncEngine) throws -> DocumentEditions {
            let candidates = Self.ids(id)
            for candidate in candidates {
                if let found = try engine.editions(of: candidate, in: place.namespace) {
                    return found
                }
            }
            for candidate in candidates {
                let local = try engine.store.read { transaction in
                    try transaction.get(place.namespace, id: candidate)
                }
                if let local { return DocumentEditions(unsynced: local) }
            }
            let looked = candidates.map { $0.extendedJSON(.relaxed) }.joined(separator: " or ")
            throw CommandError(
                "\(place.namespace) in \(place.store) has no document \(looked)")
        }

        /// Returns the ids that a text may stand for.
        static func ids(_ text: String) -> [BSONValue] {
            var ids: [BSONValue] = []
            do { ids.append(try ExtendedJSONArgument.value(text)) } catch {}
            do { ids.append(.objectID(try BSONObjectID(text))) } catch {}
            if ids.first?.stringValue == nil { ids.append(.string(text)) }
            return ids
        }

        private func ask(_ id: BSONValue) async throws -> RemoteKnowledge? {
            guard let remote else { return nil }
            let session = try SessionRemote(existing: signIn.address(of: remote))
            let found: [RemoteLookup]
            do {
                found = try await session.remote.collection(place.namespace).find(ids: [id])
            } catch {
                await session.close()
                throw CommandError("cannot read the document from \(remote): \(error)")
            }
            await session.close()
            switch found.first {
            case .found(let document): return .asked(document.withoutVersion)
            case .absent: return .asked(nil)
            case .hidden: return .unknown("the remote does not show it to this user")
            case nil: throw CommandError("\(remote) returned no result for the document; try again")
            }
        }
    }

    /// The option that turns colors on or off.
    struct ColourArguments: ParsableArguments {
        @Option(help: "Colors: auto (on a terminal), always, never. NO_COLOR turns auto off.")
        var color = TextStyle.Choice.auto
    }

    extension TextStyle.Choice: ExpressibleByArgument {}
#endif
