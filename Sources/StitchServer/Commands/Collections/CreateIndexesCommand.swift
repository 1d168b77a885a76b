internal import BSONStore

/// Creates indexes.
enum CreateIndexesCommand {
    static let definition = CommandDefinition(
        "createIndexes", aliases: [], [.catalog, .inTransaction],
        fields: [
            "indexes": .array, "ignoreUnknownIndexOptions": .flag, "commitQuorum": .any,
            "v": .any, "isTimeseriesNamespace": .bool, "collectionUUID": .any,
        ], required: ["indexes"],
        privileges: .access(.collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkCreatable()
        try TransactionScope.checkCreation(of: namespace, call)
        let specifications = try call.documents("indexes")
        guard !specifications.isEmpty else {
            throw CommandFailure(
                .badValue, "Must specify at least one index to create")
        }
        let ignoresUnknown = call.flag("ignoreUnknownIndexOptions")
        let definitions = try specifications.map { specification in
            try WorkBudget.spend(Self.stepsOfDefinition)
            return try definition(specification, ignoringUnknown: ignoresUnknown)
        }
        return .reply(
            try backend.write(call) { transaction in
                let isThere = try transaction.options(namespace) != nil
                let before = try count(namespace, transaction)
                if isThere { try checkTransaction(call, namespace, definitions, transaction) }
                try transaction.createIndexes(namespace, definitions)
                return reply(
                    before: isThere ? before : 1, after: try count(namespace, transaction),
                    isNew: !isThere)
            })
    }

    /// The steps of work that parsing one definition counts as.
    private static let stepsOfDefinition = 16

    /// Returns the number of indexes, without the `_id` index that `listIndexes` shows for a
    /// clustered collection: its documents themselves are in that order.
    private static func count(
        _ namespace: Namespace, _ transaction: ReadTransaction
    ) throws -> Int {
        let isClustered = try transaction.options(namespace)?.document["clusteredIndex"] != nil
        return try transaction.indexes(namespace).count - (isClustered ? 1 : 0)
    }

    private static func definition(
        _ specification: BSONDocument, ignoringUnknown ignores: Bool
    ) throws -> IndexDefinition {
        var specification = specification
        if ignores {
            let known = specification.filter { IndexDefinition.options.contains($0.key) }
            specification = BSONDocument(known.map { ($0.key, $0.value) })
        }
        if let hidden = specification["hidden"], hidden.boolValue == nil {
            throw CommandFailure(
                .typeMismatch,
                "Error in specification \(ShellText.text(of: .document(specification))) :: caused "
                    + "by :: The field 'hidden' must be a bool, but got \(hidden.type.alias)")
        }
        let definition = try IndexDefinition(specification)
        guard specification["name"] != nil else {
            throw CommandFailure(
                .failedToParse,
                "Error in specification \(ShellText.text(of: .document(specification))) :: caused "
                    + "by :: The 'name' field is a required property of an index specification")
        }
        return definition
    }

    /// Checks that a transaction creates indexes only on empty collections that it created.
    private static func checkTransaction(
        _ call: CommandCall, _ namespace: Namespace, _ definitions: [IndexDefinition],
        _ transaction: WriteTransaction
    ) throws {
        guard call.transaction?.isTransaction == true else { return }
        let isNew = try transaction.hasCreated(namespace)
        if isNew, try transaction.count(namespace) == 0 { return }
        let names = Set(names: try transaction.indexes(namespace).map(\.name))
        guard !definitions.allSatisfy({ names.contains($0.name) }) else { return }
        throw CommandFailure(
            263,
            "Cannot create new indexes on existing collection \(namespace) in a multi-document "
                + "transaction.")
    }

    private static func reply(before: Int, after: Int, isNew: Bool) -> BSONDocument {
        var reply: BSONDocument = [
            "numIndexesBefore": .int32(Int32(before)), "numIndexesAfter": .int32(Int32(after)),
            "createdCollectionAutomatically": .bool(isNew),
        ]
        if before == after, !isNew { reply.append("note", "all indexes already exist") }
        return reply
    }
}
