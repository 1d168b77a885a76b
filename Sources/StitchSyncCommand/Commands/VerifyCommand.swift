#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that checks a store's file.
    struct VerifyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check a store's pages, documents, indexes, change feed and sync records.",
            discussion: """
                Reads the whole file and changes nothing. With --quarantine, damaged documents are \
                moved out of their collections, so that the rest can be read. A server checks its \
                documents and indexes (MongoDB's command validate), for an administrator.

                Examples:
                  stitchsync verify shop.stitch
                  stitchsync verify shop.stitch --json
                  stitchsync verify stitchsync://admin@localhost:27017

                Exit code: 0 when the file or server is sound, 1 when it has faults or cannot be \
                read, 64 for a wrong command line.
                """)

        @Argument(
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var store: String

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Move damaged documents out of their collections.")
        var quarantine = false

        @Flag(help: "Write one JSON object.")
        var json = false

        func validate() throws {
            guard !quarantine || !SessionRemote.isServer(store) else {
                throw ValidationError("--quarantine needs the store's file")
            }
        }

        func run() async throws {
            guard !SessionRemote.isServer(store) else { return try await verifyServer() }
            try signIn.check(file: store)
            let store =
                try quarantine ? StoreOpening.existing(store) : StoreOpening.inspecting(at: store)
            defer { store.close() }
            let report = quarantine ? try store.quarantine() : try store.verify()
            let engine = try SyncEngine(lookingAt: store)
            let findings = try await engine.verify()
            let lines = report.faults.map(\.line) + findings.map { "sync: \($0)" }
            let isSound = lines.isEmpty
            if json {
                let document: BSONDocument = [
                    "sound": .bool(isSound), "documents": .int64(Int64(report.documentCount)),
                    "changes": .int64(Int64(report.changeCount)),
                    "faults": .array(BSONArray(lines.map(BSONValue.string))),
                ]
                try Console.standard.say(document.extendedJSON(.relaxed))
            } else {
                for line in lines { try Console.standard.say(line) }
                try Console.standard.say(
                    "\(report.documentCount.counted("document")) and "
                        + "\(report.changeCount.counted("change")) checked: "
                        + (isSound ? "nothing is wrong" : lines.count.counted("fault")))
            }
            guard isSound else { throw ExitCode.failure }
        }

        private func verifyServer() async throws {
            let (count, faults) = try await DocumentSource.run(at: store, signIn) { source in
                var (count, faults) = (0, [String]())
                for listing in try CollectionListing.all(source, in: nil)
                where !listing.statistics.isEmpty {
                    let namespace = listing.namespace
                    let reply = try source.run(
                        ["validate": .string(namespace.collection)], on: namespace.database)
                    count += Int(reply.number("nrecords"))
                    let errors = (reply["errors"]?.arrayValue ?? []).compactMap(\.stringValue)
                    let isFaulty = reply["valid"]?.boolValue == false
                    faults +=
                        (isFaulty && errors.isEmpty ? ["the server finds it invalid"] : errors)
                        .map { "\(namespace): \($0)" }
                }
                return (count, faults)
            }
            if json {
                let document: BSONDocument = [
                    "sound": .bool(faults.isEmpty), "documents": .int64(Int64(count)),
                    "faults": .array(BSONArray(faults.map(BSONValue.string))),
                ]
                try Console.standard.say(document.extendedJSON(.relaxed))
            } else {
                for line in faults { try Console.standard.say(line.printable) }
                try Console.standard.say(
                    "\(count.counted("document")) checked: "
                        + (faults.isEmpty ? "nothing is wrong" : faults.count.counted("fault")))
            }
            guard faults.isEmpty else { throw ExitCode.failure }
        }
    }

    extension StoreReport.Fault {
        /// The fault as one line.
        fileprivate var line: String {
            let id = documentID.map { " \($0.extendedJSON(.relaxed))" } ?? ""
            return "\(place)\(namespace.map { " \($0)" } ?? "")\(id): \(message)"
        }
    }
#endif
