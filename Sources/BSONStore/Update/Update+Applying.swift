extension Update {
    /// The document after the update, `nil` when nothing changes.
    ///
    /// - Parameter filter: the filter that found the document; says what `$` in a path stands for.
    /// - Throws: `immutableField` (66), `pathNotViable` (28), `typeMismatch` (14) and others with
    ///   MongoDB's text.
    public func apply(
        to document: BSONDocument, matching filter: Filter = .all
    ) throws(StoreError) -> BSONDocument? {
        switch kind {
        case .replacement(let replacement):
            let after = try Self.replacing(document, by: replacement)
            return after == document ? nil : after
        case .operators(let modifiers, let arrayFilters):
            let updating = Updating(
                original: document,
                matchedIndex: { path, position in
                    MatchedPosition.find(path, position, in: document, filter.predicate)
                },
                arrayFilters: arrayFilters, isInsert: false)
            return try updating.run(modifiers)
        }
    }

    /// The document that an upsert inserts when the filter finds none.
    ///
    /// - Throws: `notSingleValueField` (54) and what ``apply(to:matching:)`` throws.
    public func insertion(for filter: Filter) throws(StoreError) -> BSONDocument {
        switch kind {
        case .replacement(let replacement):
            let equalities = try UpsertEqualities.collect(filter.predicate)
            guard replacement["_id"] == nil, let id = equalities.first(where: { $0.path == "_id" })
            else { return replacement }
            return try Self.replacing(["_id": id.value], by: replacement)
        case .operators(let modifiers, let arrayFilters):
            let start = try UpsertEqualities.document(filter.predicate)
            let updating = Updating(
                original: start, matchedIndex: { _, _ in nil }, arrayFilters: arrayFilters,
                isInsert: true)
            return try updating.run(modifiers) ?? start
        }
    }

    private static func replacing(
        _ document: BSONDocument, by replacement: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        guard let id = document["_id"] else { return replacement }
        if let given = replacement["_id"], BSONOrder.compare(given, id) != .equal {
            throw StoreError(
                .immutableField,
                "After applying the update, the (immutable) field '_id' was found to have been "
                    + "altered to _id: \(ShellText.text(of: given))", documentID: id)
        }
        var ordered = BSONDocument()
        ordered.append("_id", id)
        for (key, value) in replacement where key != "_id" { ordered.append(key, value) }
        return ordered
    }
}

/// Reads off a filter which fields a document must have to pass it.
enum UpsertEqualities {
    typealias Equality = (path: String, value: BSONValue)

    /// The equalities that hold for every document that passes.
    ///
    /// - Throws: `notSingleValueField` (54) when a path is there twice.
    static func collect(_ predicate: Predicate) throws(StoreError) -> [Equality] {
        var found: [Equality] = []
        try collect(predicate, into: &found)
        return found
    }

    /// The document that has these fields and no others.
    static func document(_ predicate: Predicate) throws(StoreError) -> BSONDocument {
        let equalities = try collect(predicate)
        var document = BSONDocument()
        for (path, value) in equalities where !path.hasPrefix("$") && !path.contains(".$") {
            let modifier = UpdateModifier(path: try UpdatePath(path), operation: .set(value))
            let updating = Updating(
                original: document, matchedIndex: { _, _ in nil }, arrayFilters: [:],
                isInsert: true)
            document = try updating.run([modifier]) ?? document
        }
        return document
    }

    private static func collect(
        _ predicate: Predicate, into found: inout [Equality]
    ) throws(StoreError) {
        switch predicate {
        case .all(let parts):
            for part in parts { try collect(part, into: &found) }
        case .any(let parts):
            if parts.count == 1 { try collect(parts[0], into: &found) }
        case .field(let path, .compare(.equal, let value)):
            let text = path.description
            for other in found where overlaps(other.path, text) {
                throw StoreError(
                    .notSingleValueField,
                    "cannot infer query fields to set, path '\(text)' is matched twice")
            }
            found.append((text, value))
        case .field, .not, .special: return
        }
    }

    private static func overlaps(_ left: String, _ right: String) -> Bool {
        left == right || left.hasPrefix(right + ".") || right.hasPrefix(left + ".")
    }
}

/// Finds what the positional `$` stands for.
enum MatchedPosition {
    /// The first position of the array before the `$` whose element passes what the filter asks of
    /// that array; the first condition on the array decides.
    static func find(
        _ path: UpdatePath, _ position: Int, in document: BSONDocument, _ predicate: Predicate
    ) -> Int? {
        let array = path.parts.prefix(position).compactMap { part in
            if case .field(let key, _) = part { key } else { nil }
        }
        guard case .array(let values)? = document[path: array.joined(separator: ".")] else {
            return nil
        }
        for case .field(let field, let test) in conditions(predicate)
        where field.parts.starts(with: array) {
            let rest = Array(field.parts.dropFirst(array.count))
            let index = values.values.firstIndex { passes($0, rest, test) }
            if let index { return index }
        }
        return nil
    }

    private static func conditions(_ predicate: Predicate) -> [Predicate] {
        switch predicate {
        case .all(let parts), .any(let parts): parts.flatMap { conditions($0) }
        case .field: [predicate]
        case .not, .special: []
        }
    }

    private static func passes(
        _ element: BSONValue, _ rest: [String], _ test: Predicate.Test
    ) -> Bool {
        do throws(StoreError) {
            if rest.isEmpty {
                switch test {
                case .hasElement(let inner): return try Filter(inner).matches(element)
                case .hasDocument(let inner):
                    guard let document = element.documentValue else { return false }
                    return try Filter(inner).matches(document)
                case .compare, .isIn, .matches, .exists, .hasType, .hasSize, .modulo, .special:
                    return try Filter(Predicate.field(.itself, test)).matches(element)
                }
            }
            guard let document = element.documentValue else { return false }
            return try Filter(Predicate.field(FieldPath(parts: rest), test)).matches(document)
        } catch {
            preconditionFailure("a part of a filter that was compiled compiles: \(error)")
        }
    }
}
