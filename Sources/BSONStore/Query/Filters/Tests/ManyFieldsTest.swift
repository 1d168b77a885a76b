/// Conditions on many fields, of which all or one must hold.
///
/// The fields are looked up by their keys, so that the time grows with the conditions and the
/// fields, not with their product.
package struct ManyFieldsTest: Sendable {
    /// A condition on the field at a path, which has at least one part.
    struct Field: Sendable {
        let path: [String]
        let test: Predicate.Test
        let isNegated: Bool
    }

    /// The number of conditions from which on fields are looked up.
    static let countMin = 32

    private let isAny: Bool
    private let groups: [Group]
    private let collation: Collation?

    /// The conditions whose paths begin with the same key.
    private struct Group: Sendable {
        let key: String
        let conditions: CompiledFilter
        /// The conditions for a value that is a document, if they all concern its fields.
        let nested: ManyFieldsTest?
        /// The keys of the values that an array must all hold.
        let members: Set<[UInt8]>
        /// The conditions for an array besides these.
        let others: CompiledFilter?
    }

    /// Creates a test of conditions; their texts compare by the collation.
    init(_ fields: [Field], isAny: Bool, _ collation: Collation?) throws(StoreError) {
        self.isAny = isAny
        self.collation = collation
        var order: [String] = []
        var byKey: [Name: [Field]] = [:]
        for field in fields {
            _ = WorkBudget.isOver()
            let key = field.path[0]
            if byKey[key] == nil { order.append(key) }
            byKey[key, default: []].append(field)
        }
        var groups: [Group] = []
        for key in order {
            _ = WorkBudget.isOver()
            groups.append(try Self.group(key, byKey[key] ?? [], isAny, collation))
        }
        self.groups = groups
    }

    private static func group(
        _ key: String, _ fields: [Field], _ isAny: Bool, _ collation: Collation?
    ) throws(StoreError) -> Group {
        var nested: ManyFieldsTest?
        var members: Set<[UInt8]> = []
        var others: [Field] = []
        if fields.count >= countMin {
            if fields.allSatisfy({ $0.path.count > 1 }) {
                let inner = fields.map { field in
                    Field(
                        path: Array(field.path.dropFirst()), test: field.test,
                        isNegated: field.isNegated)
                }
                nested = try ManyFieldsTest(inner, isAny: isAny, collation)
            }
            for field in fields {
                _ = WorkBudget.isOver()
                if !isAny, let member = member(field) {
                    members.insert(BSONKey.encode(collation?.key(member) ?? member))
                } else {
                    others.append(field)
                }
            }
        }
        return Group(
            key: key, conditions: try compiled(fields, isAny, collation), nested: nested,
            members: members,
            others: members.isEmpty ? nil : try compiled(others, isAny, collation))
    }

    /// Returns the value that an array must hold for a condition to be met; `nil` if more than that
    /// meets it.
    private static func member(_ field: Field) -> BSONValue? {
        guard field.path.count == 1, !field.isNegated, case .compare(.equal, let value) = field.test
        else { return nil }
        switch value {
        case .double, .string, .binary, .objectID, .bool, .datetime, .int32, .timestamp, .int64,
            .decimal128:
            return value
        case .document, .array, .undefined, .null, .regularExpression, .dbPointer, .javascript,
            .symbol, .javascriptWithScope, .minKey, .maxKey:
            return nil
        }
    }

    private static func compiled(
        _ fields: [Field], _ isAny: Bool, _ collation: Collation?
    ) throws(StoreError) -> CompiledFilter {
        let parts = fields.map { field -> Predicate in
            let part = Predicate.field(FieldPath(parts: field.path), field.test)
            return field.isNegated ? .not(part) : part
        }
        return try FilterCompiler.compile(
            isAny ? .any(parts) : .all(parts), collation: collation, looksUpFields: false)
    }

    /// Whether a document passes; meaningless once the budget is over.
    func passes(_ document: BSONDocument) -> Bool {
        let fields = IndexedDocument(document)
        for group in groups {
            if WorkBudget.isOver() { return false }
            if passes(fields[group.key], group) == isAny { return isAny }
        }
        return !isAny
    }

    private func passes(_ value: BSONValue?, _ group: Group) -> Bool {
        switch value {
        case .document(let document):
            if let nested = group.nested { return nested.passes(document) }
        case .array(let array):
            guard let others = group.others else { break }
            var missing = group.members
            for element in array where !missing.isEmpty {
                if WorkBudget.isOver() { return false }
                missing.remove(BSONKey.encode(collation?.key(element) ?? element))
            }
            return missing.isEmpty && Self.matches(value, group.key, others)
        default: break
        }
        return Self.matches(value, group.key, group.conditions)
    }

    private static func matches(
        _ value: BSONValue?, _ key: String, _ filter: CompiledFilter
    ) -> Bool {
        let document: BSONDocument = value.map { [key: $0] } ?? [:]
        return document.withUnsafeBytes { bytes in
            FilterMatcher.with(filter) { $0.matches(RawDocument(bytes)) }
        }
    }
}
