internal import BSONStore

/// The parser of the file `auth/account_deletion.json`.
enum AccountDeletionParser {
    private static let serverDatabases: Set<Name> = [
        "admin", "config", "local", Name(RuleAccessPolicy.gatewayDatabase),
    ]

    /// Reads the file's object.
    static func policy(_ object: RuleObjectReader) throws(RuleError) -> AccountDeletionPolicy {
        try object.allow(["collections"])
        var rules: [AccountDeletionPolicy.CollectionRule] = []
        for (value, place) in try object.array("collections") {
            let rule = try rule(RuleObjectReader(value, at: place))
            let isKnown = rules.contains {
                $0.namespace == rule.namespace && $0.ownerField.hasSameBytes(as: rule.ownerField)
            }
            guard !isKnown else {
                throw place.error(
                    .duplicateCollection,
                    "The owner field \"\(rule.ownerField)\" of \(rule.namespace) stands twice")
            }
            rules.append(rule)
        }
        return AccountDeletionPolicy(collections: rules)
    }

    private static func rule(
        _ object: RuleObjectReader
    ) throws(RuleError) -> AccountDeletionPolicy.CollectionRule {
        try object.allow(["database", "collection", "owner_field", "action", "to"])
        let namespace = try namespace(object)
        let ownerField = try ownerField(object)
        let action = try action(object)
        if case .handOver = action {
            guard !ownerField.hasSameBytes(as: "_id"), !ownerField.hasBytePrefix("_id.") else {
                throw object.place["owner_field"].error(
                    .invalidValue, "The _id of a document cannot change")
            }
        } else if object["to"] != nil {
            throw object.place["to"].error(
                .invalidValue, "Only the action \"hand_over\" has the key to")
        }
        return AccountDeletionPolicy.CollectionRule(
            namespace: namespace, ownerField: ownerField, action: action)
    }

    private static func namespace(_ object: RuleObjectReader) throws(RuleError) -> Namespace {
        let namespace = Namespace(try object.text("database"), try object.text("collection"))
        do {
            try namespace.check()
        } catch {
            throw object.place.error(.invalidValue, error.message)
        }
        guard !serverDatabases.contains(Name(namespace.database)),
            !namespace.collection.hasBytePrefix("system.")
        else { throw object.place.error(.invalidValue, "\(namespace) belongs to the server") }
        return namespace
    }

    private static func ownerField(_ object: RuleObjectReader) throws(RuleError) -> String {
        let field = try object.text("owner_field")
        let parts = field.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.first != UInt8(ascii: "$") && !$0.contains(0) })
        else {
            throw object.place["owner_field"].error(
                .invalidValue, "A field is a name, or names with dots between them")
        }
        return field
    }

    private static func action(
        _ object: RuleObjectReader
    ) throws(RuleError) -> AccountDeletionPolicy.Action {
        switch try object.text("action") {
        case "delete": return .delete
        case "keep": return .keep
        case "hand_over":
            guard let heir = try object.optionalText("to"), !heir.isEmpty else {
                throw object.place.error(
                    .missingKey, "The key to is missing: the id of the user who gets the documents")
            }
            return .handOver(to: heir)
        case let other:
            throw object.place["action"].error(
                .invalidValue,
                "An action is \"delete\", \"keep\" or \"hand_over\", not \"\(other)\"")
        }
    }
}
