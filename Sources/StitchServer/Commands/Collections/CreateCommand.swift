internal import BSONStore

/// Creates a collection or a view.
enum CreateCommand {
    static let definition = CommandDefinition(
        "create", aliases: [], [.catalog, .inTransaction],
        fields: nil, required: [],
        privileges: .definition(.collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkCreatable()
        try TransactionScope.checkCreation(of: namespace, call)
        var document = BSONDocument()
        for (key, value) in call.body
        where key == call.givenName || !CommandCall.generalArguments.contains(key) {
            document.append(key, value)
        }
        try CreateOptionsCheck(call, namespace).check()
        let options = try CollectionOptions(document)
        guard options.view == nil || call.transaction?.isTransaction != true else {
            throw CommandFailure(263, "Cannot create a view in a multi-document transaction.")
        }
        try backend.write(call) { transaction in
            // Creating the same collection again succeeds, but aborts a transaction.
            if call.transaction == nil, let there = try transaction.options(namespace),
                there.hasSameValues(as: options)
            {
                return
            }
            try transaction.createCollection(namespace, options)
        }
        guard call["autoIndexId"] != nil else { return .ok }
        return .reply([
            "note": "The autoIndexId option is deprecated and will be removed in a future release"
        ])
    }
}
