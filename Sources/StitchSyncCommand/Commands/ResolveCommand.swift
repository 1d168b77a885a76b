#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that answers the questions which sync leaves to a person: a changed remote, and
    /// documents missing there.
    struct ResolveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resolve",
            abstract: "Resolve a changed remote, or documents that are missing at the remote.",
            discussion: """
                The sync of a collection stops when its remote was dropped or is another one than \
                before; nothing is deleted or uploaded. To continue, sync with the original \
                remote, or give --remote. Documents that are missing at the remote without \
                evidence of a delete are kept and not uploaded; give --missing to resolve them. \
                `status` lists both. The next sync applies the answer.

                Examples:
                  stitchsync resolve shop.stitch shop.products --remote adopt
                  stitchsync resolve shop.stitch shop.products --missing upload

                Exit code: 0, 1 when the store cannot be read or written, 64 for a wrong command line.
                """)

        /// The answer for a changed remote.
        enum Remote: String, ExpressibleByArgument, CaseIterable {
            case adopt, replace
        }

        @OptionGroup var place: StoreArguments

        @Option(
            help: """
                adopt: upload the local documents and merge those of the new remote. replace: \
                remove local documents that the new remote does not hold, and discard pending \
                changes.
                """)
        var remote: Remote?

        @Option(
            help: """
                What becomes of all documents that are missing at the remote: keep them here, \
                remove them here, or upload them again.
                """)
        var missing: Missing?

        @Flag(help: "Write one JSON object.")
        var json = false

        /// The answer for missing documents.
        enum Missing: String, ExpressibleByArgument, CaseIterable {
            case keep, remove, upload

            var answer: UnexplainedAnswer {
                switch self {
                case .keep: .keep
                case .remove: .remove
                case .upload: .upload
                }
            }
        }

        func validate() throws {
            guard remote != nil || missing != nil else {
                throw ValidationError(
                    "nothing to resolve: give --remote adopt, --remote replace or --missing")
            }
        }

        func run() async throws {
            let store = try place.existing()
            defer { store.close() }
            let collection = try SyncEngine(lookingAt: store).collection(place.namespace)
            var wasStopped = false
            switch remote {
            case .adopt: wasStopped = try await collection.adoptRemote()
            case .replace: wasStopped = try await collection.replaceFromRemote()
            case nil: break
            }
            var count = 0
            if let missing { count = try await collection.resolveUnexplained(missing.answer) }
            let object: BSONDocument = [
                "stopEnded": .bool(wasStopped), "missing": .int64(Int64(count)),
            ]
            try Console.standard.say(
                json ? object.extendedJSON(.relaxed) : Self.text(remote, wasStopped, missing, count)
            )
        }

        private static func text(
            _ remote: Remote?, _ wasStopped: Bool, _ missing: Missing?, _ count: Int
        ) -> String {
            var parts: [String] = []
            if remote != nil {
                parts.append(
                    wasStopped
                        ? "the next sync continues the collection"
                        : "the collection was not stopped")
            }
            if let missing { parts.append("\(count) missing documents: \(missing.rawValue)") }
            return parts.joined(separator: "; ")
        }
    }
#endif
