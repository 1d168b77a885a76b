internal import BSONStore

/// A condition of a rule, parsed but not yet evaluated for a user.
indirect enum RuleExpression: Sendable, Hashable {
    case constant(Bool)
    case all([RuleExpression])
    case any([RuleExpression])
    case not(RuleExpression)
    case test(RuleSubject, RuleTest)

    static let always = RuleExpression.constant(true)
}

/// The subject of a condition.
enum RuleSubject: Sendable, Hashable {
    case reference(RuleReference)
    /// A literal or converted value.
    case operand(RuleOperand)
}

/// The test that a condition applies to its subject.
indirect enum RuleTest: Sendable, Hashable {
    /// `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`.
    case compare(RuleComparison, RuleOperand)
    /// `$in`, or `$nin` when negated.
    case isIn(RuleOperand, isNegated: Bool)
    case exists(Bool)
    /// Another MongoDB operator with its operand, passed through: `$all`, `$size` and others.
    case query(String, BSONValue)
    case not(RuleTest)
    case all([RuleTest])
}

/// A comparison of a subject with an operand.
enum RuleComparison: String, Sendable, Hashable, CaseIterable {
    case equal = "$eq"
    case notEqual = "$ne"
    case greater = "$gt"
    case greaterOrEqual = "$gte"
    case less = "$lt"
    case lessOrEqual = "$lte"

    /// The comparison with its sides exchanged.
    var mirrored: RuleComparison {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        }
    }
}

/// A value in a condition.
indirect enum RuleOperand: Sendable, Hashable {
    case literal(BSONValue)
    case reference(RuleReference)
    case converted(RuleConversion, RuleOperand)
    case list([RuleOperand])
    case document([RuleField])
}

/// A field of a document in a condition.
struct RuleField: Sendable, Hashable {
    let name: Name
    let value: RuleOperand
}

extension RuleExpression {
    /// The document paths that the condition reads; an empty path is the whole document.
    var paths: Set<Name> {
        switch self {
        case .constant: []
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.paths) }
        case .not(let inner): inner.paths
        case .test(let subject, let test):
            subject.references.union(test.references).reduce(into: []) { paths, reference in
                switch reference {
                case .root(let path), .previous(let path): paths.insert(path)
                case .expansion: break
                }
            }
        }
    }

    /// Whether the condition reads the document before the write.
    var readsPrevious: Bool {
        switch self {
        case .constant: false
        case .all(let parts), .any(let parts): parts.contains(where: \.readsPrevious)
        case .not(let inner): inner.readsPrevious
        case .test(let subject, let test):
            subject.references.union(test.references).contains {
                if case .previous = $0 { true } else { false }
            }
        }
    }

    /// Whether the condition uses only operators allowed in synced roles.
    var usesSyncedOperatorsOnly: Bool {
        switch self {
        case .constant: true
        case .all(let parts), .any(let parts): parts.allSatisfy(\.usesSyncedOperatorsOnly)
        case .not(let inner): inner.usesSyncedOperatorsOnly
        case .test(let subject, let test):
            switch subject {
            case .reference(.previous): false
            case .reference(.root), .reference(.expansion), .operand: test.isSynced
            }
        }
    }
}

extension RuleSubject {
    var references: Set<RuleReference> {
        switch self {
        case .reference(let reference): [reference]
        case .operand(let operand): operand.references
        }
    }
}

extension RuleTest {
    var references: Set<RuleReference> {
        switch self {
        case .compare(_, let operand), .isIn(let operand, _): operand.references
        case .exists, .query: []
        case .not(let inner): inner.references
        case .all(let parts): parts.reduce(into: []) { $0.formUnion($1.references) }
        }
    }

    fileprivate var isSynced: Bool {
        switch self {
        case .compare(_, let operand), .isIn(let operand, _):
            !operand.references.contains { if case .previous = $0 { true } else { false } }
        case .exists: true
        case .query: false
        case .not(let inner): inner.isSynced
        case .all(let parts): parts.allSatisfy(\.isSynced)
        }
    }
}

extension RuleOperand {
    var references: Set<RuleReference> {
        switch self {
        case .literal: []
        case .reference(let reference): [reference]
        case .converted(_, let inner): inner.references
        case .list(let parts): parts.reduce(into: []) { $0.formUnion($1.references) }
        case .document(let fields):
            fields.reduce(into: []) { $0.formUnion($1.value.references) }
        }
    }

    /// Whether the value depends on a document.
    var readsDocument: Bool {
        references.contains { if case .expansion = $0 { false } else { true } }
    }

    /// Returns the value for a user; `nil` when a part of it is missing.
    func value(_ user: RuleUser, _ constants: RuleConstants) -> BSONValue? {
        switch self {
        case .literal(let value): return value
        case .reference(.expansion(let expansion)): return expansion.value(user, constants)
        case .reference(.root), .reference(.previous): return nil
        case .converted(let conversion, let inner):
            return inner.value(user, constants).flatMap(conversion.convert)
        case .list(let parts):
            var values: [BSONValue] = []
            for part in parts {
                guard let value = part.value(user, constants) else { return nil }
                values.append(value)
            }
            return .array(BSONArray(values))
        case .document(let fields):
            var document = BSONDocument()
            for field in fields {
                guard let value = field.value.value(user, constants) else { return nil }
                document.append(field.name.text, value)
            }
            return .document(document)
        }
    }
}
