internal import BSONStore
internal import StitchRules

/// A client's query as a gateway sends it upstream: the upstream selects all documents that the query
/// can match for the user, and perhaps more.
///
/// A condition on something hidden stays here, since the upstream would test what the user must not
/// see, and its errors would tell of it.
struct VisibleQuery: Sendable {
    /// The query to send; `nil` when the user sees no document of the collection.
    let upstream: UpstreamQuery?
    /// Whether it selects just the documents that the client's query matches, with nothing hidden in
    /// them.
    let isExact: Bool

    /// - Parameters:
    ///   - query: the client's query; valid, which has been checked here.
    ///   - access: what the rules allow; `nil` without rules.
    init(_ query: ClientQuery, _ access: RuleAccess?, _ definition: UpstreamCollection) {
        var filters: [BSONDocument] = []
        switch access?.visibility {
        case .never:
            (upstream, isExact) = (nil, true)
            return
        case .filter(let filter): filters.append(filter.document)
        case .always, nil: break
        }
        let isCollated = query.isCollated(in: definition)
        // Rules compare bytes, whatever the collation of a query.
        let usesCollation = isCollated && filters.isEmpty
        let variablesStay =
            query.variables.map { Self.mustStay(.document($0), access, 0) } ?? false
        var isExact = access?.hidesFields != true
        if variablesStay || isCollated && !usesCollation {
            isExact = false
        } else {
            let sent = Self.conditions(of: query.filter, access, &isExact)
            if !sent.isEmpty { filters.append(sent) }
        }
        self.isExact = isExact
        var upstream = UpstreamQuery(
            filter: filters.count > 1
                ? ["$and": .array(BSONArray(filters.map(BSONValue.document)))]
                : filters.first ?? [:])
        if usesCollation {
            upstream.collation = query.namedCollation
        } else if isCollated || definition.hasCollation {
            // Else the collection's own collation would hold, also for the filter of the rules.
            upstream.collation = ["locale": "simple"]
        }
        if !variablesStay { upstream.variables = query.variables }
        upstream.showsRecordIDs = true
        // Without a sort, the first documents are those that were inserted first, which the upstream
        // would have to look for among all.
        if isExact, query.limit > 0, let sort = query.sort, !sort.isEmpty,
            sort.allSatisfy({ $0.value.documentValue == nil })
        {
            upstream.sort = sort
            upstream.limit = query.limit
            upstream.isSmall = query.limit <= UpstreamQuery.smallMax
        }
        self.upstream = upstream
    }

    /// Returns the conditions that may be sent; the whole query where nothing is hidden.
    private static func conditions(
        of query: BSONDocument, _ access: RuleAccess?, _ isExact: inout Bool
    ) -> BSONDocument {
        var sent = BSONDocument()
        for (key, value) in query {
            if key == "$and", let inner = value.arrayValue {
                let all = inner.compactMap { one -> BSONValue? in
                    let conditions = Self.conditions(
                        of: one.documentValue ?? [:], access, &isExact)
                    return conditions.isEmpty ? nil : .document(conditions)
                }
                if !all.isEmpty { sent.append(key, .array(BSONArray(all))) }
            } else if key != "$comment", isSent(key, value, access) {
                sent.append(key, value)
            } else {
                isExact = isExact && key == "$comment"
            }
        }
        return sent
    }

    private static func isSent(_ key: String, _ value: BSONValue, _ access: RuleAccess?) -> Bool {
        guard !mustStay(value, access, 0), !mustStay(key, access) else { return false }
        guard let access, access.hidesFields else { return true }
        return !key.hasBytePrefix("$") && !access.mask.hides(path: key)
    }

    /// The operators that are not sent, since they need what only the collection has, or run code.
    private static let unsentOperators: Set<String> = [
        "$where", "$function", "$accumulator", "$text", "$near", "$nearSphere", "$geoNear",
        "$rand", "$sampleRate",
    ]

    private static func mustStay(_ key: String, _ access: RuleAccess?) -> Bool {
        // An expression can fail, and must not fail on a hidden document.
        unsentOperators.contains(key) || key == "$expr" && access?.seesAll == false
    }

    /// Whether a part of a query, or the values of its variables, must not be sent.
    private static func mustStay(_ value: BSONValue, _ access: RuleAccess?, _ depth: Int) -> Bool {
        guard depth < 100 else { return true }
        switch value {
        // At the upstream the roles would be those of the gateway.
        case .string(let text): return text.hasBytePrefix("$$USER_ROLES")
        case .document(let document):
            return document.contains { name, inner in
                mustStay(name, access) || mustStay(inner, access, depth + 1)
            }
        case .array(let array): return array.contains { mustStay($0, access, depth + 1) }
        default: return false
        }
    }
}
