internal import BSONStore

/// A client's command that counts documents: the upstream can do it, without sending them.
///
/// These are `count`, and `aggregate` with `$match`, then `$skip` and `$limit`, and then `$count` or
/// a `$group` of all documents, as drivers send for `countDocuments`.
struct UpstreamCount {
    let namespace: Namespace
    /// The documents to count.
    let counted: DocumentNeed.Query
    /// Whether the command is `count`.
    private let isPlain: Bool
    /// The stages after `$match`.
    ///
    /// The upstream's own `count` would trust numbers that can be wrong on a sharded cluster.
    private let stages: [BSONValue]

    /// Reads a command; `nil` for one that does something else, or whose answer depends on an index.
    init?(_ subject: ReadSubject, _ call: CommandCall) throws {
        switch subject {
        case .count: stages = [["$count": "n"]]
        case .pipeline:
            guard call.target.stringValue != nil, !call.flag("explain"),
                call.document("cursor")?["batchSize"]?.wholeNumber != 0,
                let rest = Self.counting(Array(call.array("pipeline") ?? []))
            else { return nil }
            stages = rest
        case .filter, .query, .firstOfQuery, .explained, .statements, .collections, .databases,
            .tombstones:
            return nil
        }
        isPlain = subject == .count
        guard call["hint"] == nil,
            let counted = try CommandNeeds(subject, of: call).onlyQuery
        else { return nil }
        namespace = counted.namespace
        self.counted = counted.query
    }

    /// Returns the stages after the first `$match`es if they count; else `nil`.
    private static func counting(_ stages: [BSONValue]) -> [BSONValue]? {
        let rest = stages.drop { $0.documentValue?["$match"] != nil }
        guard let last = rest.last?.documentValue?.firstElement,
            rest.dropLast().allSatisfy({
                ["$skip", "$limit"].contains($0.documentValue?.keys.first)
            })
        else { return nil }
        switch last.key {
        case "$count": return Array(rest)
        case "$group":
            let isCount =
                last.value.documentValue?.allSatisfy { name, value in
                    name == "_id"
                        ? value == .null || value.wholeNumber != nil
                        : value.documentValue.map {
                            $0.count == 1 && $0["$sum"]?.wholeNumber != nil
                        }
                            ?? false
                } ?? false
            return isCount ? Array(rest) : nil
        default: return nil
        }
    }

    /// Returns the command that counts at the upstream.
    private func command(_ query: UpstreamQuery) -> BSONDocument {
        let all = [["$match": .document(query.filter)]] + stages
        var command: BSONDocument = [
            "aggregate": .string(namespace.collection), "pipeline": .array(BSONArray(all)),
            "cursor": [:],
        ]
        if let variables = query.variables { command.append("let", .document(variables)) }
        if let collation = query.collation { command.append("collation", .document(collation)) }
        if query.isCommitted { command.append("readConcern", ["level": "majority"]) }
        return command
    }

    /// Counts at the upstream.
    ///
    /// - Parameter reply: the reply to the same command on an empty collection, which has found
    ///   its arguments valid; the count replaces its content.
    /// - Throws: the upstream's errors.
    func answer(
        _ query: UpstreamQuery, _ link: UpstreamLink, for call: CommandCall,
        replacing reply: BSONDocument
    ) throws -> BSONDocument {
        var query = query
        // A transaction has a read concern of its own.
        if link.session != nil { query.isCommitted = false }
        let answer = try link.run(command(query), on: namespace.database, .read, for: call)
        let found = UpstreamBatch(answer).documents
        var reply = reply
        if isPlain {
            let all = max(0, found.first?["n"]?.wholeNumber ?? 0)
            let shown = CountCommand.shown(all, skip: try call.count("skip") ?? 0, call)
            reply.set("n", to: .int32(Int32(clamping: shown)))
        } else if var cursor = reply["cursor"]?.documentValue {
            cursor.set("firstBatch", to: .array(BSONArray(found.map(BSONValue.document))))
            reply.set("cursor", to: .document(cursor))
        }
        return reply
    }
}
