#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that lists rejected writes, retries them or discards them.
    struct RetryCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "List, retry or discard writes that the remote rejected.",
            discussion: """
                Sync reverts a write that rules or subscriptions do not allow, and keeps it with \
                the reason. Without numbers the kept writes are listed. A retry applies the write \
                to the current document, and the next pass uploads it; --as writes an edited \
                document instead.

                Examples:
                  stitchsync retry shop.stitch
                  stitchsync retry shop.stitch 3 --as '{"_id": 7, "price": 9}'
                  stitchsync retry shop.stitch --all --discard

                Exit code: 0, 1 when no kept write has a given number, or when a write cannot be \
                retried, 64 for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(help: "The numbers of kept writes; without numbers all are listed.")
        var numbers: [Int64] = []

        @Flag(help: "All kept writes.")
        var all = false

        @Flag(help: "Discard the writes instead.")
        var discard = false

        @Option(
            name: .customLong("as"),
            help: "An edited document to write instead; needs the number of one write.",
            transform: { try ExtendedJSONArgument.document($0) })
        var document: BSONDocument?

        @Flag(help: "Write JSON: one object for each write.")
        var json = false

        func validate() throws {
            guard numbers.isEmpty || !all else {
                throw ValidationError("--all and numbers exclude each other; give one of them")
            }
            guard !discard || all || !numbers.isEmpty else {
                throw ValidationError("--discard needs the numbers of writes, or --all")
            }
            guard document == nil || numbers.count == 1 && !discard else {
                throw ValidationError("--as needs the number of one write, and excludes --discard")
            }
        }

        /// Lists the kept writes, or settles the chosen ones.
        ///
        /// Each number without a kept write, and each write that cannot be settled, counts as one
        /// failure and is printed as a warning. A failure does not stop the others.
        ///
        /// - Throws: exit code 1 if there was a failure, and the store's errors.
        func run() async throws {
            let opened = try StoreOpening.existing(store)
            defer { opened.close() }
            let engine = try SyncEngine(lookingAt: opened)
            let kept = try await rejectedWrites(engine)

            let isListing = numbers.isEmpty && !all
            if isListing { return try list(kept) }

            var failureCount = try warnAboutMissing(in: kept)
            for write in kept where isChosen(write) {
                if try await !settle(write, engine) { failureCount += 1 }
            }
            if failureCount > 0 { throw ExitCode.failure }
        }

        /// Returns the rejected writes of all synced collections in the order of their numbers.
        private func rejectedWrites(
            _ engine: SyncEngine
        ) async throws -> [RejectedWrite<BSONDocument>] {
            var writes: [RejectedWrite<BSONDocument>] = []
            for namespace in try engine.syncedCollections() {
                writes += try await engine.collection(namespace).rejectedWrites.all()
            }
            return writes.sorted { $0.id < $1.id }
        }

        /// Prints all kept writes.
        private func list(_ kept: [RejectedWrite<BSONDocument>]) throws {
            let console = Console.standard
            if json {
                for write in kept { try console.say(write.object().extendedJSON(.canonical)) }
                return
            }
            if kept.isEmpty { try console.say("no rejected writes") }
            for write in kept {
                for line in write.lines { try console.say(line) }
            }
        }

        /// Whether the arguments name a write.
        private func isChosen(_ write: RejectedWrite<BSONDocument>) -> Bool {
            all || numbers.contains(write.id)
        }

        /// Prints a warning for each given number without a kept write, and returns how many.
        private func warnAboutMissing(in kept: [RejectedWrite<BSONDocument>]) throws -> Int {
            let missing = Set(numbers).subtracting(kept.map(\.id)).sorted()
            for number in missing {
                try Console.standard.warn("error: \(store) keeps no rejected write \(number)")
            }
            return missing.count
        }

        /// Retries or discards a write, as the flags say, and prints the outcome.
        ///
        /// - Returns: `false` if that failed, with the reason printed as a warning.
        private func settle(
            _ write: RejectedWrite<BSONDocument>, _ engine: SyncEngine
        ) async throws -> Bool {
            let title = "\(write.id): \(write.change) of \(write.place)"
            do {
                let collection = engine.collection(write.namespace)
                if discard {
                    try await collection.rejectedWrites.discard(write.id)
                } else if let document {
                    try await collection.rejectedWrites.retry(write.id, as: document)
                } else {
                    try await collection.rejectedWrites.retry(write.id)
                }
            } catch let error as StoreError {
                try Console.standard.warn("error: \(title): \(error.message.printable)")
                return false
            } catch let error as SyncError {
                try Console.standard.warn("error: \(title): \(error.message.printable)")
                return false
            }
            let outcome = discard ? "discarded" : "retried"
            let explained = discard ? outcome : "\(outcome); the next pass uploads it"
            try Console.standard.say(
                json
                    ? write.object(outcome: outcome).extendedJSON(.canonical)
                    : "\(title) \(explained)")
            return true
        }
    }
#endif
