/// The equalities in a filter, from which an upsert creates a document.
///
/// Source: MongoDB manual, "Update: upsert"; the order and the conflicts match the server's.
enum UpsertEqualities {
    typealias Equality = (path: [String], value: BSONValue)

    /// Returns the document with these fields only.
    ///
    /// - Parameter onlyID: whether to return only the `_id`, for a replacement.
    /// - Throws: `notSingleValueField` (54) if a path occurs twice, 111 for a part of an `_id`.
    static func document(
        _ predicate: Predicate, onlyID: Bool = false
    ) throws(StoreError) -> BSONDocument {
        var found: [Equality] = []
        collect(predicate, into: &found)
        if onlyID { found.removeAll { $0.path.first != "_id" } }
        // The server reads them by path, and in the order of the filter if paths are equal.
        let texts = found.map { text($0.path) }
        let order = found.indices.sorted { left, right in
            if WorkBudget.isOver() { return false }
            let (a, b) = (texts[left], texts[right])
            return a.hasSameBytes(as: b) ? left < right : a.utf8.lexicographicallyPrecedes(b.utf8)
        }
        try WorkBudget.check()
        var document = EditedDocument()
        var seen: Set<Name> = []
        for (path, value) in order.map({ found[$0] }) {
            try WorkBudget.spend()
            try check(path, besides: seen, onlyID: onlyID)
            seen.insert(text(path))
            guard path.count <= UpdateLimits.depthMax else { throw UpdateLimits.tooDeep }
            // No path leads through another, so that only documents are on its way.
            do throws(BSONError) { try document.set(path: text(path), to: value) } catch {
                throw StoreError(.badValue, error.message, underlying: error)
            }
        }
        return document.finished()
    }

    /// Throws for a condition that does not apply to single fields.
    ///
    /// - Throws: 224 for `$expr` at any level.
    static func check(_ filter: BSONDocument) throws(StoreError) {
        for (key, value) in filter {
            guard key != "$expr" else {
                throw StoreError(
                    .queryFeatureNotAllowed,
                    "$expr is not allowed in the query predicate for an upsert")
            }
            guard ["$and", "$or", "$nor"].contains(key), let clauses = value.arrayValue else {
                continue
            }
            for case .document(let clause) in clauses { try check(clause) }
        }
    }

    private static func collect(_ predicate: Predicate, into found: inout [Equality]) {
        if case .all(let parts) = predicate {
            for part in parts { collect(part, into: &found) }
        } else if case .any(let parts) = predicate, parts.count == 1 {
            collect(parts[0], into: &found)
        } else if let equality = equality(predicate) {
            found.append(equality)
        }
    }

    /// Returns the equality if it is the predicate's only condition; equal branches count as one.
    private static func equality(_ predicate: Predicate) -> Equality? {
        switch predicate {
        case .all(let parts) where parts.count == 1: return equality(parts[0])
        case .any(let parts):
            guard let part = parts.first, let first = equality(part) else { return nil }
            let isSame = parts.dropFirst().allSatisfy { part in
                equality(part).map { $0 == first } ?? false
            }
            return isSame ? first : nil
        case .field(let path, .compare(.equal, let value)): return (path.parts, value)
        case .field(let path, .isIn(let values, let expressions))
        where values.count == 1 && expressions.isEmpty:
            return (path.parts, values[0])
        default: return nil
        }
    }

    private static func check(
        _ path: [String], besides seen: Set<Name>, onlyID: Bool
    ) throws(StoreError) {
        if onlyID, path.count > 1 {
            throw StoreError(
                .notExactValueField,
                "field at '_id' must be exactly specified, field at sub-path '\(text(path))'found")
        }
        // The longest of them, which is the last in order.
        let other = path.indices.reversed().lazy.map { path[...$0].joined(separator: ".") }
            .first { seen.contains($0) }
        guard let other else { return }
        throw StoreError(
            .notSingleValueField,
            "cannot infer query fields to set, "
                + (other.hasSameBytes(as: text(path))
                    ? "path '\(other)' is matched twice"
                    : "both paths '\(text(path))' and '\(other)' are matched"))
    }

    private static func text(_ path: [String]) -> String { path.joined(separator: ".") }
}
