internal import BSONStore

/// A parser of roles in the present layout and in the one before March 2023.
struct RoleParser {
    /// The naming of the keys.
    enum Layout: Sendable {
        /// `apply_when` and `document_filters`.
        case unified
        /// `applyWhen`, with the conditions on documents in `read` and `write`.
        case legacy
    }

    let layout: Layout
    /// Warnings about rules that are allowed but probably unintended.
    var warnings: [RuleWarning] = []

    init(_ layout: Layout) { self.layout = layout }

    /// Parses an array of roles.
    mutating func roles(
        _ values: [(value: BSONValue, place: RuleSourceLocation)]
    ) throws(RuleError) -> [RuleRole] {
        var roles: [RuleRole] = []
        var names: Set<Name> = []
        for (value, place) in values {
            let role = try role(RuleObjectReader(value, at: place))
            if !names.insert(role.name).inserted {
                warnings.append(place["name"].warning("Another role has the same name"))
            }
            if roles.last?.applyWhen == .always {
                let text = "The role is never reached: one before always applies"
                warnings.append(place.warning(text))
            }
            roles.append(role)
        }
        return roles
    }

    private mutating func role(_ object: RuleObjectReader) throws(RuleError) -> RuleRole {
        switch layout {
        case .unified: try unified(object)
        case .legacy: try legacy(object)
        }
    }

    private mutating func unified(_ object: RuleObjectReader) throws(RuleError) -> RuleRole {
        try object.allow([
            "name", "apply_when", "document_filters", "read", "write", "insert", "delete",
            "search", "fields", "additional_fields", "_id",
        ])
        var filters: RuleRole.DocumentFilters?
        if let given = try object.object("document_filters") {
            try given.allow(["read", "write"])
            filters = RuleRole.DocumentFilters(
                read: try condition("read", in: given), write: try condition("write", in: given))
            for key in ["read", "write"] where given[key] == nil {
                warnings.append(
                    given.place.warning(
                        "Without \(key) the filter is false; write true when it is not wanted"))
            }
        }
        let role = RuleRole(
            name: Name(try name(object)), place: object.place,
            applyWhen: try applyWhen("apply_when", in: object), filters: filters,
            read: try condition("read", in: object), write: try condition("write", in: object),
            insert: try condition("insert", in: object),
            delete: try condition("delete", in: object),
            search: try condition("search", in: object),
            fields: try FieldRulesParser.parse(object))
        if role.write == .constant(false), role.fields?.grantsWrites == true {
            warnings.append(
                object.place["write"].warning(
                    "write is false for the whole document, so write of a field has no effect"))
        }
        return role
    }

    /// Translates a role from before March 2023 to the present layout.
    ///
    /// Write permission required read permission then, so the write filter demands both.
    private mutating func legacy(_ object: RuleObjectReader) throws(RuleError) -> RuleRole {
        try object.allow([
            "name", "applyWhen", "apply_when", "read", "write", "insert", "delete", "search",
            "fields", "additional_fields", "_id",
        ])
        let read = try condition("read", in: object)
        let write = try condition("write", in: object)
        let fields = try FieldRulesParser.parse(object)
        let both: RuleExpression? =
            switch (read, write) {
            case (let read?, let write?): Self.both(read, write)
            case (_, _): nil
            }
        let yes: RuleExpression? = fields == nil ? .always : nil
        return RuleRole(
            name: Name(try name(object)), place: object.place,
            applyWhen: try applyWhen(
                object["applyWhen"] == nil ? "apply_when" : "applyWhen", in: object),
            filters: RuleRole.DocumentFilters(
                read: read ?? .constant(false), write: both ?? .constant(false)),
            read: yes, write: yes, insert: try condition("insert", in: object) ?? .always,
            delete: try condition("delete", in: object) ?? .always,
            search: try condition("search", in: object) ?? .always, fields: fields)
    }

    /// Returns the conjunction of two conditions, simplified if one is true.
    private static func both(_ read: RuleExpression, _ write: RuleExpression) -> RuleExpression {
        if read == .always || read == write { return write }
        if write == .always { return read }
        return .all([read, write])
    }

    private func name(_ object: RuleObjectReader) throws(RuleError) -> String {
        let name = try object.text("name")
        guard !name.isEmpty, name.count <= RuleLimits.nameLengthMax else {
            throw object.place["name"].error(
                .invalidValue,
                "The name of a role has 1 to \(RuleLimits.nameLengthMax) characters")
        }
        return name
    }

    private func applyWhen(_ key: String, in object: RuleObjectReader) throws(RuleError)
        -> RuleExpression
    {
        guard let expression = try condition(key, in: object) else {
            throw object.place.error(.missingKey, "The key \(key) is missing")
        }
        guard expression.paths.isEmpty else {
            throw object.place[key].error(
                .unsupportedExpansion,
                "A role is chosen by the user alone; put conditions on documents into "
                    + "document_filters")
        }
        return expression
    }

    /// Parses a condition that may read the document before a write.
    private func condition(
        _ key: String, in object: RuleObjectReader
    ) throws(RuleError) -> RuleExpression? {
        guard let value = object[key], value != .null else { return nil }
        let place = object.place[key]
        let expression = try RuleExpressionParser.parse(value, at: place)
        if let problem = expression.problem {
            throw place.error(.unsupportedOperator, "This cannot be evaluated: \(problem)")
        }
        let isRead = key == "read" || key == "search"
        guard !isRead || !expression.readsPrevious else {
            throw place.error(
                .unsupportedExpansion, "There is no %%prevRoot when a document is read")
        }
        return expression
    }
}

/// A parser of `fields` and `additional_fields`.
enum FieldRulesParser {
    /// Parses the field rules of an object; `nil` without any.
    static func parse(_ object: RuleObjectReader) throws(RuleError) -> FieldRules? {
        guard object["fields"] != nil || object["additional_fields"] != nil else { return nil }
        var named: [Name: FieldRule] = [:]
        if let fields = try object.object("fields") {
            for (name, value) in fields.entries {
                let place = fields.place[name]
                guard !name.isEmpty, !name.hasBytePrefix("$"),
                    !name.utf8.contains(UInt8(ascii: "."))
                else {
                    throw place.error(
                        .invalidValue,
                        "This is not a field; fields in fields are nested under fields")
                }
                named[name] = try rule(RuleObjectReader(value, at: place))
            }
        }
        var additional: FieldGrant?
        if let given = try object.object("additional_fields") {
            try given.allow(["read", "write"])
            additional = try grant(given)
        }
        return FieldRules(named: named, additional: additional)
    }

    private static func rule(_ object: RuleObjectReader) throws(RuleError) -> FieldRule {
        try object.allow(["read", "write", "fields", "additional_fields"])
        return FieldRule(grant: try grant(object), nested: try parse(object))
    }

    private static func grant(_ object: RuleObjectReader) throws(RuleError) -> FieldGrant {
        FieldGrant(
            read: try permission("read", in: object), write: try permission("write", in: object))
    }

    /// Parses a field's permission, which may depend only on the user.
    private static func permission(
        _ key: String, in object: RuleObjectReader
    ) throws(RuleError) -> RuleExpression? {
        guard let value = object[key], value != .null else { return nil }
        let expression = try RuleExpressionParser.parse(value, at: object.place[key])
        guard expression.paths.isEmpty else {
            throw object.place[key].error(
                .unsupportedExpansion,
                "Permissions of fields are decided by the user alone, not by the document")
        }
        return expression
    }
}

extension FieldRules {
    /// Whether the rules may grant write access to a field.
    fileprivate var grantsWrites: Bool {
        let all = named.values.map(\.grant) + [additional].compactMap(\.self)
        return all.contains { $0.write.map { $0 != .constant(false) } ?? false }
            || named.values.contains { $0.nested?.grantsWrites ?? false }
    }
}
