internal import BSONStore
internal import StitchRules

/// The part of a client's query that a gateway may send upstream: it selects all documents that the
/// query can match for the user, and perhaps more.
///
/// A condition on something hidden stays here, since the upstream would test what the user must not
/// see, and its errors would tell of it.
struct CandidateFilter: Sendable {
    /// The filter; `nil` when the user sees no document of the collection.
    let filter: BSONDocument?
    /// Whether it selects just the documents that the query matches for the user.
    let isExact: Bool
    /// Whether texts are compared by the collation of the client's command.
    let usesCollation: Bool

    /// - Parameters:
    ///   - query: the client's query; valid, which has been checked here.
    ///   - access: what the rules allow; `nil` without rules.
    ///   - hasCollation: whether the command or the collection compares texts by a collation.
    init(_ query: BSONDocument, _ access: RuleAccess?, hasCollation: Bool) {
        var parts: [BSONValue] = []
        switch access?.visibility {
        case .never:
            (filter, isExact, usesCollation) = (nil, true, false)
            return
        case .filter(let filter): parts.append(.document(filter.document))
        case .always, nil: break
        }
        // Rules compare bytes, whatever the collation of a query.
        usesCollation = hasCollation && parts.isEmpty
        var isExact = true
        if hasCollation, !usesCollation {
            isExact = query.isEmpty
        } else {
            let sent = Self.conditions(of: query, access, &isExact)
            if !sent.isEmpty { parts.append(.document(sent)) }
        }
        self.isExact = isExact
        filter =
            parts.count > 1 ? ["$and": .array(BSONArray(parts))] : parts.first?.documentValue ?? [:]
    }

    /// Returns the conditions that may be sent; the whole query where nothing is hidden.
    private static func conditions(
        of query: BSONDocument, _ access: RuleAccess?, _ isExact: inout Bool
    ) -> BSONDocument {
        var sent = BSONDocument()
        for (key, value) in query {
            if key == "$and", let inner = value.arrayValue {
                let parts = inner.compactMap { part -> BSONValue? in
                    let conditions = Self.conditions(
                        of: part.documentValue ?? [:], access, &isExact)
                    return conditions.isEmpty ? nil : .document(conditions)
                }
                if !parts.isEmpty { sent.append(key, .array(BSONArray(parts))) }
            } else if key != "$comment", isSent(key, value, access) {
                sent.append(key, value)
            } else {
                isExact = isExact && key == "$comment"
            }
        }
        return sent
    }

    private static func isSent(_ key: String, _ value: BSONValue, _ access: RuleAccess?) -> Bool {
        guard !stays(value, access, 0), !stays(key, access) else { return false }
        guard let access, access.hidesFields else { return true }
        return !key.hasBytePrefix("$") && !access.mask.hides(path: key)
    }

    /// The operators that need what only the collection has, or that run code.
    private static let own: Set<String> = [
        "$where", "$function", "$accumulator", "$text", "$near", "$nearSphere", "$geoNear",
        "$rand", "$sampleRate",
    ]

    private static func stays(_ key: String, _ access: RuleAccess?) -> Bool {
        // An expression can fail, and must not fail on a hidden document.
        own.contains(key) || key == "$expr" && access?.seesAll == false
    }

    /// Whether a part of a query, or the values of its variables, must not be sent.
    static func stays(_ value: BSONValue, _ access: RuleAccess?) -> Bool { stays(value, access, 0) }

    private static func stays(_ value: BSONValue, _ access: RuleAccess?, _ depth: Int) -> Bool {
        guard depth < 100 else { return true }
        switch value {
        // At the upstream the roles would be those of the gateway.
        case .string(let text): return text.hasBytePrefix("$$USER_ROLES")
        case .document(let document):
            return document.contains { name, inner in
                stays(name, access) || stays(inner, access, depth + 1)
            }
        case .array(let array): return array.contains { stays($0, access, depth + 1) }
        default: return false
        }
    }
}

extension CandidateFilter {
    /// Returns the ids that a query asks for; `nil` if it may match documents of other ids.
    static func ids(of query: BSONDocument) -> [BSONValue]? {
        guard let condition = query["_id"] else { return nil }
        switch condition {
        case .regularExpression, .null, .undefined, .array: return nil
        case .document(let document):
            guard let operation = document.keys.first(where: { $0.hasBytePrefix("$") }) else {
                return [condition]
            }
            switch (operation, document[operation]) {
            case ("$eq", let value?): return isPlain(value) ? [value] : nil
            case ("$in", .array(let values)?):
                let all = Array(values)
                return all.allSatisfy(isPlain) && all.count <= 10_000 ? all : nil
            default: return nil
            }
        default: return [condition]
        }
    }

    private static func isPlain(_ value: BSONValue) -> Bool {
        switch value {
        case .regularExpression, .null, .undefined, .array: false
        default: true
        }
    }
}
