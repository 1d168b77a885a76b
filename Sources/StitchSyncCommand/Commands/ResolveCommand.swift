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

        @OptionGroup var place: StoreFileArguments

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

        func validate() throws {
            guard remote != nil || missing != nil else {
                throw ValidationError(
                    "nothing to resolve: give --remote adopt, --remote replace or --missing")
            }
        }

        /// Stores the answers, which the next sync applies, and prints what they concern.
        func run() async throws {
            let store = try place.existing()
            defer { store.close() }
            let collection = try place.synced(in: store)
            let wasStopped = try await answerRemote(of: collection)
            let count = try await answerMissing(in: collection)
            let object: BSONDocument = [
                "stopEnded": .bool(wasStopped), "missing": .int64(Int64(count)),
            ]
            try Console.standard.say(
                json ? object.extendedJSON(.relaxed) : text(wasStopped, missingCount: count))
        }

        /// Ends the collection's stop as `--remote` says; returns whether it was stopped.
        private func answerRemote(of collection: SyncCollection<BSONDocument>) async throws -> Bool
        {
            switch remote {
            case .adopt: try await collection.adoptRemote()
            case .replace: try await collection.replaceFromRemote()
            case nil: false
            }
        }

        /// Resolves the missing documents as `--missing` says; returns how many there were.
        private func answerMissing(in collection: SyncCollection<BSONDocument>) async throws -> Int
        {
            guard let missing else { return 0 }
            return try await collection.resolveUnexplained(missing.answer)
        }

        private func text(_ wasStopped: Bool, missingCount: Int) -> String {
            var parts: [String] = []
            if remote != nil {
                parts.append(
                    wasStopped
                        ? "the next sync continues the collection"
                        : "the collection was not stopped")
            }
            if let missing {
                parts.append("\(missingCount.counted("missing document")): \(missing.rawValue)")
            }
            return parts.joined(separator: "; ")
        }
    }
#endif
