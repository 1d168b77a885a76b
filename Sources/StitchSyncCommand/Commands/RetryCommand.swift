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
            transform: { try BSONDocument(extendedJSON: $0) })
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

        func run() async throws {
            let opened = try StoreOpening.existing(store)
            defer { opened.close() }
            let engine = try SyncEngine(lookingAt: opened)
            let rejected = try await rejectedWrites(engine)
            if numbers.isEmpty && !all { return try list(rejected) }

            // A number without a write, or a write that cannot be retried, does not stop the others.
            let missing = Set(numbers).subtracting(rejected.map(\.id)).sorted()
            for number in missing {
                try Console.standard.warn("error: \(store) keeps no rejected write \(number)")
            }
            var failures = missing.count
            for write in rejected where all || numbers.contains(write.id) {
                if try await !retryOrDiscard(write, engine) { failures += 1 }
            }
            if failures > 0 { throw ExitCode.failure }
        }

        /// Returns the rejected writes of all synced collections in the order of their numbers.
        private func rejectedWrites(
            _ engine: SyncEngine
        ) async throws -> [RejectedWrite<BSONDocument>] {
            var writes: [RejectedWrite<BSONDocument>] = []
            for namespace in try engine.syncedCollections() {
                writes += try await engine.collection(namespace).rejectedWrites()
            }
            return writes.sorted { $0.id < $1.id }
        }

        private func list(_ rejected: [RejectedWrite<BSONDocument>]) throws {
            let console = Console.standard
            if json {
                for write in rejected {
                    try console.say(write.object().extendedJSON(.canonical))
                }
                return
            }
            if rejected.isEmpty { try console.say("no rejected writes") }
            for write in rejected {
                for line in write.lines { try console.say(line) }
            }
        }

        /// Retries or discards a write, as the flags say, and prints the outcome.
        ///
        /// - Returns: false if it failed, with the reason printed.
        private func retryOrDiscard(
            _ write: RejectedWrite<BSONDocument>, _ engine: SyncEngine
        ) async throws -> Bool {
            let collection = engine.collection(write.namespace)
            let title = "\(write.id): \(write.change) of \(write.place)"
            do {
                if discard {
                    try await collection.discardRejectedWrite(write.id)
                } else if let document {
                    try await collection.retryRejectedWrite(write.id, as: document)
                } else {
                    try await collection.retryRejectedWrite(write.id)
                }
            } catch let error as StoreError {
                try Console.standard.warn("error: \(title): \(error.message.printable)")
                return false
            } catch let error as SyncError {
                try Console.standard.warn("error: \(title): \(error.message.printable)")
                return false
            }
            let outcome = discard ? "discarded" : "retried; the next pass uploads it"
            try Console.standard.say(
                json
                    ? write.object(outcome: discard ? "discarded" : "retried")
                        .extendedJSON(.canonical)
                    : "\(title) \(outcome)")
            return true
        }
    }

    extension RejectedWrite<BSONDocument> {
        /// The collection and the document's id.
        var place: String { "\(namespace) \(documentID.extendedJSON(.relaxed))" }

        /// The write as a few lines of text.
        fileprivate var lines: [String] {
            func text(_ document: BSONDocument?) -> String {
                document?.extendedJSON(.relaxed) ?? "(no document)"
            }
            var lines = [
                "\(id)  \(change) of \(place), refused at \(time.text)",
                "   reason  \(reason.printable) (\(code))", "   wanted  \(text(document))",
            ]
            if hasLaterEdits { lines.append("   later   \(text(laterDocument))") }
            return lines + ["   base    \(text(base))"]
        }

        /// Returns the write as one JSON object.
        func object(outcome: String? = nil) -> BSONDocument {
            func value(_ document: BSONDocument?) -> BSONValue {
                document.map(BSONValue.document) ?? .null
            }
            var object: BSONDocument = [
                "number": .int64(id), "collection": .string(namespace.description),
                "_id": documentID, "change": .string(change.rawValue), "at": .datetime(time),
                "code": .int64(Int64(code)), "reason": .string(reason),
                "document": value(document), "base": value(base),
            ]
            if hasLaterEdits { object.append("later", value(laterDocument)) }
            if let outcome { object.append("outcome", .string(outcome)) }
            return object
        }
    }
#endif
