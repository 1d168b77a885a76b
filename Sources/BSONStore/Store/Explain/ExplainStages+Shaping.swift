extension ExplainStages {
    /// Returns the stages that sort, skip, limit and project the documents read.
    func shaped(_ access: Stage) -> Stage {
        var stage = access
        let isSorting = options.sort != nil && !plan.isSorted
        let end = options.end ?? .max
        if isSorting, let sort = options.sort {
            var details: BSONDocument = [
                "sortPattern": .document(sort.pattern), "memLimit": 104_857_600,
            ]
            if end < Int.max { details.append("limitAmount", .int64(Int64(end))) }
            details.append("type", "simple")
            stage = stage.passed(
                to: Stage(
                    name: "SORT", details: details,
                    returned: { min($0.matched, Int32(clamping: end)) }))
        }
        if options.skip > 0 {
            let skip = Int32(clamping: options.skip)
            stage = stage.passed(
                to: Stage(
                    name: "SKIP", details: ["skipAmount": .int32(skip)],
                    returned: { max(0, $0.matched - skip) }))
        }
        if let projection = options.projection {
            stage = stage.passed(
                to: Stage(
                    name: projection.isSimple ? "PROJECTION_SIMPLE" : "PROJECTION_DEFAULT",
                    details: ["transformBy": .document(projection.document)],
                    returned: { $0.returned }))
        }
        if options.limit > 0, !isSorting {
            stage = stage.passed(
                to: Stage(
                    name: "LIMIT",
                    details: ["limitAmount": .int32(Int32(clamping: options.limit))],
                    returned: { $0.returned }))
        }
        return stage
    }
}

extension Projection {
    /// Whether the projection only includes or excludes whole fields.
    fileprivate var isSimple: Bool {
        document.allSatisfy { key, value in
            !key.contains(".") && (value.isNumber || value.type == .bool)
        }
    }
}

extension SortOrder {
    /// The sort order as a key pattern.
    var pattern: BSONDocument {
        BSONDocument(
            keys.map { key in
                if let metadata = key.metadata {
                    return ("$meta", .string(metadata))
                }
                return (key.path.description, .int32(key.isDescending ? -1 : 1))
            })
    }
}

extension Filter {
    /// The filter as the server shows a parsed one: `{a: {$eq: 1}}`.
    package var explained: BSONDocument { ExplainFilter.document(of: self) }
}

/// The form in which the server shows a parsed filter: `{a: {$eq: 1}}`.
enum ExplainFilter {
    /// Returns the filter in that form; as written when a part has no such form.
    static func document(of filter: Filter) -> BSONDocument {
        if filter.isEverything { return [:] }
        return document(of: filter.predicate) ?? filter.document
    }

    private static func document(of predicate: Predicate) -> BSONDocument? {
        switch predicate {
        case .all(let parts) where parts.count == 1, .any(let parts) where parts.count == 1:
            return document(of: parts[0])
        case .all(let parts): return joined("$and", parts)
        case .any(let parts) where parts.isEmpty: return ["$alwaysFalse": 1]
        case .any(let parts): return joined("$or", parts)
        case .not(.any(let parts)): return joined("$nor", parts)
        case .not(.field(let path, let test)):
            return operation(of: test).map {
                [path.description: ["$not": .document($0)]]
            }
        case .not(let part):
            return document(of: part).map { ["$nor": [.document($0)]] }
        case .field(let path, let test):
            return operation(of: test).map { [path.description: .document($0)] }
        case .special: return nil
        }
    }

    private static func joined(_ name: String, _ parts: [Predicate]) -> BSONDocument? {
        var documents: [BSONValue] = []
        for part in parts {
            guard let document = document(of: part) else { return nil }
            documents.append(.document(document))
        }
        return [name: .array(BSONArray(documents))]
    }

    private static func operation(of test: Predicate.Test) -> BSONDocument? {
        switch test {
        case .compare(let comparison, let value): return [name(comparison): value]
        case .isIn(let values, let expressions):
            let all = values + expressions.map { .regularExpression($0) }
            return ["$in": .array(BSONArray(all))]
        case .matches(let expression):
            var operation: BSONDocument = ["$regex": .string(expression.pattern)]
            if !expression.options.isEmpty {
                operation.append("$options", .string(expression.options))
            }
            return operation
        case .exists: return ["$exists": true]
        case .hasSize(let size): return ["$size": .int32(Int32(clamping: size))]
        case .modulo(let divisor, let remainder):
            return ["$mod": [.int64(divisor), .int64(remainder)]]
        case .hasDocument(let inner):
            return document(of: inner).map { ["$elemMatch": .document($0)] }
        case .hasType, .hasElement, .special: return nil
        }
    }

    private static func name(_ comparison: Predicate.Comparison) -> String {
        switch comparison {
        case .equal: "$eq"
        case .less: "$lt"
        case .lessOrEqual: "$lte"
        case .greater: "$gt"
        case .greaterOrEqual: "$gte"
        }
    }
}
