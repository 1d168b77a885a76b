internal import BSONStore

/// Returns a hash of each collection, to compare copies of a database.
///
/// Source: MongoDB manual, "dbHash".
enum DbHashCommand {
    static let definition = CommandDefinition(
        "dbHash", aliases: ["dbhash"], [],
        fields: ["collections": .array], required: [],
        privileges: .access(.read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .store { call, backend in
            let wanted = Set(
                names: (call.array("collections") ?? []).compactMap(\.stringValue))
            let (hashes, whole) = try backend.read(call) { transaction in
                var hashes = BSONDocument()
                var texts = ""
                for namespace in try transaction.collections().sorted(by: {
                    $0.description.bytesPrecede($1.description)
                })
                where namespace.database.hasSameBytes(as: call.database)
                    && !namespace.collection.hasBytePrefix("system.")
                    && (wanted.isEmpty || wanted.contains(namespace.collection))
                {
                    if try transaction.isView(namespace) { continue }
                    let text = try hash(namespace, transaction, call)
                    hashes.append(namespace.collection, .string(text))
                    texts += text
                }
                return (hashes, try DigestAlgorithm.md5.sum(Array(texts.utf8)).hexadecimal)
            }
            return .reply([
                "host": .string(call.connection.local), "collections": .document(hashes),
                "md5": .string(whole), "timeMillis": 0,
            ])
        })

    /// Returns the hash of the documents in the order of their ids.
    private static func hash(
        _ namespace: Namespace, _ transaction: ReadTransaction, _ call: CommandCall
    ) throws -> String {
        let options = try FindOptions(sort: SortOrder(["_id": 1]))
        let digest = try RunningDigest(.md5)
        try transaction.forEach(namespace, filter: .all, options: options) { document in
            try call.checkTime()
            try document.withUnsafeBytes { try digest.add($0) }
        }
        return try digest.sum().hexadecimal
    }
}
