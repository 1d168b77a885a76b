internal import BSONCore

/// The writer of a typed condition as MongoDB's filter.
struct TypedFilterWriter {
    /// The highest number of alternatives in a condition on elements that are not documents.
    static let alternativesMax = 256

    let encoder: BSONEncoder
    /// The number of arrays within whose elements the condition is tested.
    var depth = 0

    /// A part of a conjunction.
    private enum Clause {
        /// Operators on the value at a path.
        case field(String, [FilterOperator])
        /// A filter of any form.
        case document(BSONDocument)

        /// The clause that no document fulfils.
        static let never = Clause.document(["$nor": [[:]]])
    }

    /// Returns the filter of a condition.
    func document(_ node: TypedFilter.Node) throws -> BSONDocument {
        var drafts: [FilterDraft] = []
        for clause in try clauses(node) {
            let fitting = drafts.indices.first { Self.add(clause, to: &drafts[$0]) }
            guard fitting == nil else { continue }
            var draft = FilterDraft()
            _ = Self.add(clause, to: &draft)
            drafts.append(draft)
        }
        let documents = drafts.map(\.document)
        return documents.count > 1
            ? ["$and": Self.array(documents)] : documents.first ?? [:]
    }

    private static func add(_ clause: Clause, to draft: inout FilterDraft) -> Bool {
        switch clause {
        case .field(let path, let operators): draft.add(operators, at: path)
        case .document(let document): draft.add(document)
        }
    }

    private static func array(_ documents: [BSONDocument]) -> BSONValue {
        .array(BSONArray(documents.map { .document($0) }))
    }

    private func clauses(_ node: TypedFilter.Node) throws -> [Clause] {
        switch node {
        case .field(let path, let test):
            return [try clause(path, test)]
        case .bson(let document): return document.isEmpty ? [] : [.document(document)]
        case .all(let nodes): return try nodes.flatMap(clauses)
        case .any(let nodes): return try disjunction(Self.flattened(nodes))
        case .not(let node): return try opposites(node)
        }
    }

    private func clause(_ path: TypedFieldPath, _ test: FieldTest) throws -> Clause {
        let name = try name(of: path)
        let alternatives = try operators(path, test, isElement: false)
        switch alternatives.count {
        case 0: return .never
        case 1: return .field(name, alternatives[0])
        default:
            return .document([
                "$or": Self.array(alternatives.map { [name: FilterOperator.condition($0)] })
            ])
        }
    }

    /// Returns the parts of a disjunction, with those of disjunctions inside it.
    private static func flattened(_ nodes: [TypedFilter.Node]) -> [TypedFilter.Node] {
        nodes.flatMap { node in
            if case .any(let inner) = node { return flattened(inner) }
            return [node]
        }
    }

    private func disjunction(_ nodes: [TypedFilter.Node]) throws -> [Clause] {
        let documents = try nodes.map(document)
        guard !documents.isEmpty else { return [.never] }
        // A part that every document fulfils makes the whole true.
        guard !documents.contains(where: \.isEmpty) else { return [] }
        if documents.count == 1 { return try clauses(nodes[0]) }
        return [.document(["$or": Self.array(documents)])]
    }

    private func opposites(_ node: TypedFilter.Node) throws -> [Clause] {
        switch node {
        case .field(let path, let test):
            let name = try name(of: path)
            let alternatives = try operators(path, test, isElement: false)
            if alternatives.count == 1 {
                return [.field(name, FilterOperator.opposite(of: alternatives[0]))]
            }
            return alternatives.isEmpty
                ? []
                : [
                    .document([
                        "$nor": Self.array(
                            alternatives.map { [name: FilterOperator.condition($0)] })
                    ])
                ]
        case .not(let node): return try clauses(node)
        case .any(let nodes):
            let documents = try Self.flattened(nodes).map(document)
            guard documents.count != 1 else { return try opposites(Self.flattened(nodes)[0]) }
            return documents.isEmpty ? [] : [.document(["$nor": Self.array(documents)])]
        case .all(let nodes) where nodes.count == 1: return try opposites(nodes[0])
        case .all, .bson: return [.document(["$nor": Self.array([try document(node)])])]
        }
    }

    private func name(of path: TypedFieldPath) throws(StoreError) -> String {
        try check(path)
        guard !path.isElement else {
            throw StoreError(
                .badValue, "A condition tests both an element of an array and its fields")
        }
        return try path.dotted(encoder)
    }

    private func check(_ path: TypedFieldPath) throws(StoreError) {
        guard path.depth == depth else {
            throw StoreError(
                .badValue,
                "A condition on the elements of an array names a field outside of the element")
        }
    }
}

// MARK: - Tests

extension TypedFilterWriter {
    /// Returns the operators of a test, as alternatives; only conditions on elements have several.
    private func operators(
        _ path: TypedFieldPath, _ test: FieldTest, isElement: Bool
    ) throws -> [[FilterOperator]] {
        try path.naming { try operators(test, isElement: isElement) }
    }

    private func operators(
        _ test: FieldTest, isElement: Bool
    ) throws -> [[FilterOperator]] {
        switch test {
        // Not `$ne` itself, which MongoDB refuses with a regular expression.
        case .compare(.notEqual, let value):
            let equality = FilterOperator("$eq", try value.encode(encoder))
            return [FilterOperator.opposite(of: [equality])]
        case .compare(let comparison, let value):
            return [[FilterOperator(comparison.rawValue, try value.encode(encoder))]]
        case .oneOf(let values): return [[FilterOperator("$in", try array(values))]]
        case .exists: return [[FilterOperator("$exists", true)]]
        case .type(let type): return [[FilterOperator("$type", .string(type.alias))]]
        case .remainder(let divisor, let remainder):
            return [[FilterOperator("$mod", [.int64(divisor), .int64(remainder)])]]
        case .pattern(let pattern, let options):
            let pattern = FilterOperator("$regex", .string(pattern))
            return [
                options.isEmpty
                    ? [pattern] : [pattern, FilterOperator("$options", .string(options))]
            ]
        case .size(let count): return [[FilterOperator("$size", .int64(Int64(count)))]]
        case .contains(let value): return [[try contains(value, isElement: isElement)]]
        case .containsAll(let values): return [[FilterOperator("$all", try array(values))]]
        case .element(let node):
            return try elementConditions(node).map { [FilterOperator("$elemMatch", .document($0))] }
        }
    }

    private func array(_ values: [TypedValue]) throws -> BSONValue {
        .array(BSONArray(try values.map { try $0.encode(encoder) }))
    }

    private func contains(_ value: TypedValue, isElement: Bool) throws -> FilterOperator {
        let operand = try value.encode(encoder)
        let isPlain =
            switch operand {
            // Null would match a missing array, an array the whole one.
            case .null, .array: false
            default: !isElement
            }
        return isPlain
            ? FilterOperator("$eq", operand) : FilterOperator("$elemMatch", ["$eq": operand])
    }

    /// Returns the alternative conditions of the elements of an array, for `$elemMatch` or `$pull`.
    ///
    /// A condition on documents is one filter. A condition on other values cannot have `$or`, so
    /// its alternatives are apart.
    func elementConditions(_ node: TypedFilter.Node) throws -> [BSONDocument] {
        let inner = TypedFilterWriter(encoder: encoder, depth: depth + 1)
        guard Self.testsElements(node) else { return [try inner.document(node)] }
        return try inner.alternatives(node, isOpposite: false).map(FilterOperator.document)
    }

    /// Whether a condition tests elements themselves, not fields of them.
    private static func testsElements(_ node: TypedFilter.Node) -> Bool {
        switch node {
        case .field(let path, _): path.isElement
        case .bson(let document):
            document.keys.first.map {
                $0.hasBytePrefix("$") && !["$and", "$or", "$nor", "$expr"].contains($0)
            } ?? false
        case .all(let nodes), .any(let nodes): nodes.allSatisfy(testsElements)
        case .not(let node): testsElements(node)
        }
    }

    /// Returns a condition on elements as a disjunction of conjunctions of operators.
    private func alternatives(
        _ node: TypedFilter.Node, isOpposite: Bool
    ) throws -> [[FilterOperator]] {
        switch node {
        case .field(let path, let test):
            try check(path)
            return combine(
                try operators(path, test, isElement: true), isOpposite: isOpposite)
        case .bson(let document):
            let operators = document.map { FilterOperator($0.key, $0.value) }
            return combine([operators], isOpposite: isOpposite)
        case .not(let node): return try alternatives(node, isOpposite: !isOpposite)
        case .all(let nodes):
            let parts = try nodes.map { try alternatives($0, isOpposite: isOpposite) }
            return isOpposite ? parts.flatMap(\.self) : try conjunction(parts)
        case .any(let nodes):
            let parts = try nodes.map { try alternatives($0, isOpposite: isOpposite) }
            return isOpposite ? try conjunction(parts) : parts.flatMap(\.self)
        }
    }

    private func combine(
        _ alternatives: [[FilterOperator]], isOpposite: Bool
    ) -> [[FilterOperator]] {
        isOpposite ? [alternatives.flatMap(FilterOperator.opposite)] : alternatives
    }

    private func conjunction(_ parts: [[[FilterOperator]]]) throws -> [[FilterOperator]] {
        // Every element fulfils the empty conjunction.
        guard !parts.isEmpty else { return [[FilterOperator("$exists", true)]] }
        var found: [[FilterOperator]] = [[]]
        for part in parts {
            guard found.count * part.count <= Self.alternativesMax else {
                throw StoreError(
                    .badValue,
                    "A condition on elements has more than \(Self.alternativesMax) alternatives")
            }
            found = found.flatMap { known in part.map { known + $0 } }
        }
        return found
    }
}
