internal import BSONStore

/// Checks a collection: its documents, its indexes, and its validator.
enum ValidateCommand {
    static let definition = CommandDefinition(
        "validate", aliases: [], [],
        fields: nil, required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    /// The result of the check.
    private struct Findings {
        let report: StoreReport
        let keys: [(indexName: String, keys: Int)]
        let uuid: BSONValue?
        var nonCompliant = 0
    }

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        if call.flag("background"), call.flag("full") {
            throw CommandFailure(
                .invalidOptions,
                "Running the validate command with both { background: true } and { full: true } "
                    + "is not supported.")
        }
        let findings = try backend.read(call) { transaction in
            guard let options = try transaction.options(namespace) else {
                throw CommandFailure(
                    .namespaceNotFound,
                    "Collection '\(namespace)' does not exist to validate.")
            }
            guard options.view == nil else {
                throw CommandFailure(.commandNotSupportedOnView, "Cannot validate a view")
            }
            return try check(namespace, options, transaction)
        }
        return .reply(reply(findings, namespace))
    }

    private static func check(
        _ namespace: Namespace, _ options: CollectionOptions, _ transaction: ReadTransaction
    ) throws -> Findings {
        var findings = Findings(
            report: try transaction.verify(namespace), keys: try transaction.keyCounts(namespace),
            uuid: try transaction.uuid(namespace))
        // A damaged document matches no filter; it is reported as damaged.
        if let validator = options.validator, findings.report.isSound {
            findings.nonCompliant = try transaction.count(
                namespace, filter: ["$nor": [.document(validator)]])
        }
        return findings
    }

    /// Source: mongodb/mongo 7.0, `validate_adaptor.cpp`.
    private static let nonCompliant =
        "Detected one or more documents not compliant with the collection's schema. "
        + "Check logs for log id 5363500."

    private static func reply(_ findings: Findings, _ namespace: Namespace) -> BSONDocument {
        let faults = findings.report.faults
        let damaged = faults.count { $0.place == .document }
        let faulty = Set(names: faults.compactMap(\.indexName))
        var keys = BSONDocument()
        var details = BSONDocument()
        for (indexName, count) in findings.keys {
            keys.append(indexName, .int32(Int32(clamping: count)))
            details.append(indexName, ["valid": .bool(!faulty.contains(indexName))])
        }
        var warnings = BSONArray()
        if findings.nonCompliant > 0 { warnings.append(.string(nonCompliant)) }
        return [
            "ns": .string(namespace.description), "uuid": findings.uuid ?? .null,
            "nInvalidDocuments": .int32(Int32(clamping: damaged)),
            "nNonCompliantDocuments": .int32(Int32(clamping: findings.nonCompliant)),
            "nrecords": .int32(Int32(clamping: findings.report.documentCount)),
            "nIndexes": .int32(Int32(clamping: findings.keys.count)),
            "keysPerIndex": .document(keys), "indexDetails": .document(details),
            "valid": .bool(faults.isEmpty), "repaired": false,
            "warnings": .array(warnings),
            "errors": .array(BSONArray(faults.map { .string($0.message) })),
            "extraIndexEntries": [], "missingIndexEntries": [], "corruptRecords": [],
        ]
    }
}
