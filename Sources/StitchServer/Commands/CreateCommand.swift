internal import BSONStore

/// Makes a collection or a view.
enum CreateCommand {
    static let rule = CommandRule(
        "create", [.catalog, .inTransaction], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkCreatable()
        var document = BSONDocument()
        for (key, value) in call.body
        where key == call.givenName || !CommandCall.generalArguments.contains(key) {
            document.append(key, value)
        }
        let options = try CollectionOptions(document)
        try store.write(call) { transaction in
            // The same once more is no error, but it ends a transaction.
            if call.transaction == nil, let there = try transaction.options(namespace),
                there.document == options.document
            {
                return
            }
            try transaction.createCollection(namespace, options)
        }
        return .ok
    }
}
