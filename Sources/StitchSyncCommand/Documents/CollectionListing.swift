#if CommandLine
    import BSONStore

    /// A collection as `ls` and `stats` print it.
    struct CollectionListing: Sendable {
        let namespace: Namespace
        /// The reply to `collStats`; empty for a view.
        let statistics: BSONDocument
        let isSynced: Bool

        static let titles = ["collection", "documents", "indexes", "bytes", "synced"]

        /// Reads one collection.
        init(_ namespace: Namespace, _ source: DocumentSource, isView: Bool = false) throws {
            self.namespace = namespace
            statistics =
                isView
                ? [:]
                : try source.run(
                    ["collStats": .string(namespace.collection)], on: namespace.database)
            isSynced = try source.isSynced(namespace)
        }

        /// Returns the databases that are not the server's own, or all, in order.
        static func databases(
            _ source: DocumentSource, withSystem includesSystem: Bool = false
        ) throws -> [String] {
            try source.run(["listDatabases": 1, "nameOnly": true], on: "admin")
                .documents("databases").map { $0.text("name") }
                .filter { name in
                    includesSystem || !ServerDatabase.system.contains { $0.hasSameBytes(as: name) }
                }
                .sorted { Name($0) < Name($1) }
        }

        /// Returns the collections of a database, or of all databases.
        ///
        /// - Parameter includesSystem: whether all databases include the server's own.
        static func all(
            _ source: DocumentSource, in database: String?, withSystem includesSystem: Bool = false
        ) throws -> [CollectionListing] {
            let databases =
                try database.map { [$0] } ?? databases(source, withSystem: includesSystem)
            return try databases.flatMap { database in
                try source.documents(["listCollections": 1], on: database)
                    .filter { !$0.text("name").hasBytePrefix("system.") }
                    .map { entry in
                        try CollectionListing(
                            Namespace(database, entry.text("name")), source,
                            isView: entry.text("type") == "view")
                    }
                    .sorted { Name($0.namespace.collection) < Name($1.namespace.collection) }
            }
        }

        private var numbers: [(name: String, number: Int)] {
            [
                ("documents", Int(statistics.number("count"))),
                ("indexes", Int(statistics.number("nindexes"))),
                ("bytes", Int(statistics.number("size"))),
            ]
        }

        /// The line of the table.
        var row: [String] {
            [namespace.description] + numbers.map { String($0.number) } + [isSynced ? "yes" : "no"]
        }

        /// The JSON object.
        var object: BSONDocument {
            var object: BSONDocument = ["collection": .string(namespace.description)]
            for (name, number) in numbers { object.append(name, .int64(Int64(number))) }
            object.append("synced", .bool(isSynced))
            return object
        }
    }
#endif
