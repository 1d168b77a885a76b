internal import BSONStore

extension StableAPI {
    /// Keeps a command of a strict client from using indexes outside version 1.
    ///
    /// - Throws: 291 (NoQueryExecutionPlans) for `$text`, 2 (BadValue) for a hint.
    static func checkIndexes(
        _ definition: CommandDefinition, _ call: CommandCall, _ backend: StoreBackend
    ) throws {
        let query = definition.name == "explain" ? call.target.documentValue : call.body
        guard let query, let command = query.keys.first, let name = query[command]?.stringValue
        else { return }
        try checkIndexes(of: query) {
            try backend.read(call) { try $0.indexes(call.namespace(name)) }
        }
    }

    /// Keeps queries of strict clients from using indexes outside version 1: text and sparse ones.
    ///
    /// Source: the server's `jstests/core/query/api/api_version_unstable_indexes.js`.
    ///
    /// - Parameter indexes: returns the indexes of the collection.
    /// - Throws: 291 (NoQueryExecutionPlans) for `$text`, 2 (BadValue) for a hint.
    static func checkIndexes(
        of query: BSONDocument, _ indexes: () throws -> [IndexDefinition]
    ) throws {
        let first = query["pipeline"]?.arrayValue?.values.first?.documentValue?["$match"]
        let filter = (query["filter"] ?? query["query"] ?? first)?.documentValue
        if let filter, asksTexts(filter) {
            let hasTexts = try indexes().contains { index in
                index.keys.contains { $0.kind == .special("text") }
            }
            guard !hasTexts else { throw refusal(291, "No query solutions") }
        }
        guard let given = query["hint"] else { return }
        let hint = try IndexHint(given)
        let meant = try indexes().filter { hint.isFor($0) }
        guard meant.isEmpty || !meant.allSatisfy(\.isSparse) else {
            throw refusal(
                StoreError.Code.badValue.rawValue,
                "hint provided does not correspond to an existing index")
        }
    }

    private static func refusal(_ code: Int32, _ text: String) -> CommandFailure {
        CommandFailure(
            code, "error processing query: planner returned error :: caused by :: \(text)")
    }

    private static func asksTexts(_ filter: BSONDocument) -> Bool {
        filter.contains { name, value in
            if name == "$text" { return true }
            guard ["$and", "$or", "$nor"].contains(name) else { return false }
            return value.arrayValue?.contains { $0.documentValue.map(asksTexts) ?? false } ?? false
        }
    }
}
