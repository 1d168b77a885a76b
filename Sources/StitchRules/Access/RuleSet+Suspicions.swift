package import BSONStore

extension RuleSet {
    /// A condition of a role in its place.
    private struct Condition {
        let place: RuleSourceLocation
        let expression: RuleExpression
    }

    /// The fields that the filters of a collection's roles read.
    package struct FilterUse: Sendable {
        /// The collection.
        package let namespace: Namespace
        /// The file of the roles.
        package let file: String
        /// The place of a role's filters in the file.
        package let path: String
        /// The paths of the fields, in order.
        package let fields: [String]
    }

    /// A use of a field of the users' custom data.
    package struct CustomDataUse: Sendable {
        /// The name of the field.
        package let field: String
        /// The file of the use.
        package let file: String
        /// The place in the file.
        package let path: String
    }

    /// Warnings about roles that a check reports and a start does not: write filters that let users
    /// read more, and roles that no user holds.
    package var suspicions: [RuleWarning] {
        lists.flatMap(\.list.roles).flatMap { role in
            var found: [RuleWarning] = []
            if role.applyWhen.isNever {
                found.append(
                    role.place["apply_when"].warning(
                        "No user holds the role \"\(role.name)\": the condition never holds"))
            }
            if let filters = role.filters, let read = filters.read, let write = filters.write,
                !write.implies(read)
            {
                found.append(
                    role.place["document_filters"]["write"].warning(
                        "The write filter lets users read documents that the read filter of the "
                            + "role \"\(role.name)\" hides: write permission includes read "
                            + "permission"))
            }
            return found
        }
    }

    /// The fields that filters read, by role.
    package var filterUses: [FilterUse] {
        lists.compactMap { entry in entry.namespace.map { ($0, entry.list) } }.flatMap {
            (namespace, list) in
            list.roles.compactMap { role in
                let paths = [role.filters?.read, role.filters?.write].compactMap(\.self)
                    .reduce(into: Set<Name>()) { $0.formUnion($1.paths) }
                guard !paths.isEmpty else { return nil }
                return FilterUse(
                    namespace: namespace, file: role.place.file,
                    path: role.place["document_filters"].path, fields: paths.sorted().map(\.text))
            }
        }
    }

    /// The fields of custom data that conditions read, each at its first place.
    package var customDataUses: [CustomDataUse] {
        var known: Set<Name> = []
        return lists.flatMap(\.list.roles).flatMap(Self.conditions).flatMap { condition in
            condition.expression.references.compactMap { reference -> CustomDataUse? in
                guard case .expansion(let expansion) = reference, expansion.root == .user,
                    expansion.path.first == "custom_data", expansion.path.count > 1,
                    known.insert(expansion.path[1]).inserted
                else { return nil }
                return CustomDataUse(
                    field: expansion.path[1].text, file: condition.place.file,
                    path: condition.place.path)
            }
        }
    }

    /// The collections with roles of their own, with the files of the roles.
    package var collectionFiles: [(namespace: Namespace, file: String)] {
        lists.compactMap { entry in entry.namespace.map { ($0, entry.list.file) } }
    }

    /// Whether collections without roles of their own have default roles.
    package var hasDefaults: Bool { defaults?.roles.isEmpty == false }

    /// All lists of roles, with their collections; `nil` for the default roles and for types of no
    /// database.
    private var lists: [(namespace: Namespace?, list: RoleList)] {
        let own = collections.sorted { $0.key.description.bytesPrecede($1.key.description) }
            .map { (Optional($0.key), $0.value) }
        let typed = types.sorted { $0.key < $1.key }.map { type, list in
            (
                database.map { Namespace($0.text, (collectionNames[type] ?? type).text) }, list
            )
        }
        return own + typed + (defaults.map { [(nil, $0)] } ?? [])
    }

    private static func conditions(_ role: RuleRole) -> [Condition] {
        let filters = role.place["document_filters"]
        let own: [(RuleSourceLocation, RuleExpression?)] = [
            (role.place["apply_when"], role.applyWhen), (filters["read"], role.filters?.read),
            (filters["write"], role.filters?.write), (role.place["read"], role.read),
            (role.place["write"], role.write), (role.place["insert"], role.insert),
            (role.place["delete"], role.delete), (role.place["search"], role.search),
        ]
        return own.compactMap { place, expression in
            expression.map { Condition(place: place, expression: $0) }
        } + (role.fields.map { conditions($0, role.place) } ?? [])
    }

    private static func conditions(
        _ fields: FieldRules, _ place: RuleSourceLocation
    ) -> [Condition] {
        let named = fields.named.sorted { $0.key < $1.key }.flatMap { name, rule in
            let place = place["fields"][name.text]
            return conditions(rule.grant, place)
                + (rule.nested.map { conditions($0, place) } ?? [])
        }
        return named
            + (fields.additional.map { conditions($0, place["additional_fields"]) } ?? [])
    }

    private static func conditions(
        _ grant: FieldGrant, _ place: RuleSourceLocation
    ) -> [Condition] {
        [("read", grant.read), ("write", grant.write)].compactMap { key, expression in
            expression.map { Condition(place: place[key], expression: $0) }
        }
    }
}

extension RuleExpression {
    /// What the condition reads of users and documents.
    fileprivate var references: Set<RuleReference> {
        switch self {
        case .constant: []
        case .all(let parts), .any(let parts):
            parts.reduce(into: []) { $0.formUnion($1.references) }
        case .not(let inner): inner.references
        case .test(let subject, let test): subject.references.union(test.references)
        }
    }

    /// Whether each document that satisfies the condition certainly satisfies another one.
    fileprivate func implies(_ other: RuleExpression) -> Bool {
        if self == other || self == .constant(false) || other == .always { return true }
        if case .all(let wanted) = other { return wanted.allSatisfy(implies) }
        switch self {
        case .any(let parts): return parts.allSatisfy { $0.implies(other) }
        case .all(let parts) where parts.contains { $0.implies(other) }: return true
        case .constant, .all, .not, .test: break
        }
        guard case .any(let choices) = other else { return false }
        return choices.contains(where: implies)
    }

    /// The types of users.
    private static let userTypes: [BSONValue] = ["normal", "anonymous", "server"]

    /// Whether no user satisfies the condition.
    fileprivate var isNever: Bool {
        switch self {
        case .constant(let flag): return !flag
        case .all(let parts):
            var known: [Name: BSONValue] = [:]
            for (name, value) in parts.compactMap(\.wantedOfUser) {
                if let other = known[name], other != value { return true }
                known[name] = value
            }
            return parts.contains(where: \.isNever)
        case .any(let parts): return parts.allSatisfy(\.isNever)
        case .not(let inner): return inner == .always
        case .test:
            guard let (name, value) = wantedOfUser, name == "type" else { return false }
            return !Self.userTypes.contains(value)
        }
    }

    /// The value that the user's id or type must equal; `nil` for other conditions.
    private var wantedOfUser: (name: Name, value: BSONValue)? {
        guard case .test(.reference(.expansion(let expansion)), let test) = self,
            case .compare(.equal, .literal(let value)) = test, expansion.root == .user,
            expansion.path.count == 1, expansion.path == ["id"] || expansion.path == ["type"]
        else { return nil }
        return (expansion.path[0], value)
    }
}
