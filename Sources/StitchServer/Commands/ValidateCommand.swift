internal import BSONStore

/// Checks a collection.
enum ValidateCommand {
    static let rule = CommandRule(
        "validate", [], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        if call.flag("background"), call.flag("full") {
            throw CommandFault(
                .invalidOptions,
                "Running the validate command with both { background: true } and { full: true } "
                    + "is not supported.")
        }
        let (count, indexes, uuid) = try store.read(call) { transaction in
            guard let options = try transaction.options(namespace) else {
                throw CommandFault(
                    .namespaceNotFound,
                    "Collection '\(namespace)' does not exist to validate.")
            }
            guard options.view == nil else {
                throw CommandFault(.commandNotSupportedOnView, "Cannot validate a view")
            }
            return (
                try transaction.count(namespace), try transaction.indexes(namespace),
                try transaction.uuid(namespace)
            )
        }
        var keys = BSONDocument()
        var details = BSONDocument()
        for index in indexes {
            keys.append(index.name, .int32(Int32(clamping: count)))
            details.append(index.name, ["valid": true])
        }
        return .reply([
            "ns": .string(namespace.description), "uuid": uuid ?? .null, "nInvalidDocuments": 0,
            "nNonCompliantDocuments": 0, "nrecords": .int32(Int32(clamping: count)),
            "nIndexes": .int32(Int32(indexes.count)), "keysPerIndex": .document(keys),
            "indexDetails": .document(details), "valid": true, "repaired": false,
            "warnings": [], "errors": [], "extraIndexEntries": [], "missingIndexEntries": [],
            "corruptRecords": [],
        ])
    }
}
