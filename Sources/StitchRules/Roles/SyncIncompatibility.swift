internal import BSONStore

/// A reason why a role cannot be used with sync.
public struct SyncIncompatibility: Sendable, Hashable, CustomStringConvertible {
    /// The collection's file.
    public let file: String
    /// The place in the file.
    public let path: String
    /// The role's name.
    public let role: String
    /// A description for people.
    public let message: String

    /// The file, the place, the role and the description.
    public var description: String { "\(file): \(path): role \"\(role)\": \(message)" }
}

extension RuleRole {
    /// Returns the reasons against using the role with sync; empty when it is compatible.
    ///
    /// Source: App Services documentation, "Device Sync-Compatible Roles".
    ///
    /// - Parameter queryable: the queryable fields, without `_id`.
    func syncFindings(queryable: Set<Name>) -> [SyncIncompatibility] {
        var found: [SyncIncompatibility] = []
        func note(_ place: RuleSourceLocation, _ message: String) {
            found.append(
                SyncIncompatibility(
                    file: place.file, path: place.path, role: name.text, message: message))
        }
        let filters = place["document_filters"]
        if self.filters?.read == nil { note(filters["read"], "sync needs a read filter") }
        if self.filters?.write == nil { note(filters["write"], "sync needs a write filter") }
        let conditions = [
            (filters["read"], self.filters?.read), (filters["write"], self.filters?.write),
            (place["insert"], insert), (place["delete"], delete),
        ]
        for (place, condition) in conditions {
            guard let condition else { continue }
            let known = queryable.union(["", "_id"])
            for path in condition.paths.subtracting(known).sorted() {
                note(place, "the field \"\(path)\" is not queryable")
            }
            if condition.readsPrevious { note(place, "sync knows no %%prevRoot") }
            if !condition.usesSyncedOperatorsOnly, !condition.readsPrevious {
                note(place, "it uses an operator that sync does not know")
            }
        }
        for (key, permission) in [("read", read), ("write", write)] {
            guard let permission, !permission.isLiteral else { continue }
            note(place[key], "with sync this is true or false, not a condition")
        }
        for place in fields?.conditions(at: place) ?? [] {
            note(place, "with sync this is true or false, not a condition")
        }
        if fields?.named["_id"] != nil {
            note(place["fields"]["_id"], "_id cannot have permissions of its own")
        }
        return found
    }
}

extension RuleExpression {
    fileprivate var isLiteral: Bool {
        if case .constant = self { true } else { false }
    }
}

extension FieldRules {
    /// Returns the places where field permissions are conditions, in name order.
    fileprivate func conditions(at place: RuleSourceLocation) -> [RuleSourceLocation] {
        var places: [RuleSourceLocation] = []
        for (name, rule) in named.sorted(by: { $0.key < $1.key }) {
            places += rule.conditions(at: place["fields"][name.text])
        }
        return places + (additional?.conditions(at: place["additional_fields"]) ?? [])
    }
}

extension FieldRule {
    fileprivate func conditions(at place: RuleSourceLocation) -> [RuleSourceLocation] {
        grant.conditions(at: place) + (nested?.conditions(at: place) ?? [])
    }
}

extension FieldGrant {
    fileprivate func conditions(at place: RuleSourceLocation) -> [RuleSourceLocation] {
        [("read", read), ("write", write)]
            .filter { $0.1.map { !$0.isLiteral } ?? false }.map { place[$0.0] }
    }
}
