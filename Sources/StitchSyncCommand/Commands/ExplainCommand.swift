#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the plan and cost of a query.
    struct ExplainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Show the plan and the cost of a query.",
            discussion: """
                The output has the format of MongoDB's explain with the verbosity executionStats: \
                stages such as IXSCAN and COLLSCAN, and the numbers of examined keys and \
                documents.

                Examples:
                  stitchsync explain shop.stitch shop.products '{"price": {"$lt": 5}}' \\
                    --sort '{"price": 1}'
                  stitchsync explain stitchsync://localhost:27017 shop.products '{stock: 0}'

                Exit code: 0, 1 when the store or server cannot be read or the filter is invalid, \
                64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var selection: FilterArguments

        @OptionGroup var sorting: SortArguments

        @Flag(help: "Write the JSON object on one line.")
        var json = false

        @OptionGroup var signIn: SignInArguments

        func run() async throws {
            let plan = try place.isServer ? await planAtServer() : planOfFile()
            try Console.standard.say(plan.extendedJSON(.relaxed, pretty: !json))
        }

        private func planOfFile() throws -> BSONDocument {
            try signIn.check(file: place.store)
            let store = try place.open(readOnly: true)
            defer { store.close() }
            return try store.collection(place.namespace)
                .find(selection.filter).sort(sorting.sort ?? [:]).explain(.executionStats)
        }

        private func planAtServer() async throws -> BSONDocument {
            var find: BSONDocument = [
                "find": .string(place.namespace.collection), "filter": .document(selection.filter),
            ]
            if let sort = sorting.sort { find.append("sort", .document(sort)) }
            let (query, database) = (find, place.namespace.database)
            return try await DocumentSource.run(at: place.store, signIn) { source in
                let reply = try source.run(
                    ["explain": .document(query), "verbosity": "executionStats"], on: database)
                return reply.leavingOut("$clusterTime").leavingOut("operationTime")
            }
        }
    }
#endif
