package import BSONStore
internal import StitchRules

/// The changes for one user in one collection when rules are replaced by others.
package struct RuleDifference: Sendable {
    /// A number of documents, and the `_id` of one of them.
    package struct Count: Sendable {
        /// The number of documents.
        package fileprivate(set) var documents = 0
        /// The `_id` of the first one.
        package fileprivate(set) var example: BSONValue = .null

        fileprivate mutating func add(_ id: BSONValue) {
            if documents == 0 { example = id }
            documents += 1
        }

        fileprivate var document: BSONValue {
            ["documents": .int64(Int64(documents)), "example": example]
        }

        fileprivate var text: String {
            let sample: BSONDocument = ["": example]
            let id = sample.extendedJSON(.relaxed).dropFirst(4).dropLast()
            return "\(documents) document\(documents == 1 ? "" : "s"), such as \(id)"
        }
    }

    /// A kind of change.
    private enum Change: String, CaseIterable {
        case readable, hidden, writable, notWritable

        var text: String {
            switch self {
            case .readable: "becomes readable"
            case .hidden: "becomes hidden"
            case .writable: "becomes writable"
            case .notWritable: "is no longer writable"
            }
        }
    }

    private let namespace: Namespace
    private let user: String
    private let old: RuleAccess
    private let new: RuleAccess
    private var visible = Count()
    private var invisible = Count()
    private var fields: [Change: [Name: Count]] = [:]

    /// Compares the rules for a user; `nil` if both decide alike about every document.
    package init?(
        _ namespace: Namespace, _ user: RuledUser, from old: RuleFolder, to new: RuleFolder,
        newUser: RuledUser
    ) {
        guard !user.isBoundless else { return nil }
        self.namespace = namespace
        self.user = user.name
        self.old = RuleAccessPolicy(old.rules, user.ruleUser).access(namespace)
        self.new = RuleAccessPolicy(new.rules, newUser.ruleUser).access(namespace)
        if self.old.decidesEqually(self.new) { return nil }
    }

    /// Whether nothing changes for the documents that were added.
    package var isEmpty: Bool {
        visible.documents + invisible.documents == 0 && fields.isEmpty
    }

    /// Compares the access to a document.
    package mutating func add(_ document: BSONDocument) {
        let id = document["_id"] ?? .null
        let (before, after) = (old.fieldAccess(of: document), new.fieldAccess(of: document))
        let (saw, sees) = (old.sees(document), new.sees(document))
        if !saw, sees { visible.add(id) }
        if saw, !sees { invisible.add(id) }
        if saw, sees {
            note(.readable, before.readable, after.readable, id)
            note(.hidden, after.readable, before.readable, id)
        }
        note(.writable, before.writable, after.writable, id)
        note(.notWritable, after.writable, before.writable, id)
    }

    private mutating func note(
        _ change: Change, _ without: [String], _ with: [String], _ id: BSONValue
    ) {
        let known = Set(without.map { Name($0) })
        for name in with.map({ Name($0) }) where !known.contains(name) {
            fields[change, default: [:]][name, default: Count()].add(id)
        }
    }

    /// The difference as lines for people.
    package var lines: [String] {
        var lines = ["\(user), \(namespace):"]
        if visible.documents > 0 { lines.append("  becomes visible: \(visible.text)") }
        if invisible.documents > 0 { lines.append("  becomes invisible: \(invisible.text)") }
        for change in Change.allCases {
            for (name, count) in (fields[change] ?? [:]).sorted(by: { $0.key < $1.key }) {
                lines.append("  \(name) \(change.text): \(count.text)")
            }
        }
        return lines
    }

    /// The difference as a JSON object.
    package var document: BSONDocument {
        var document: BSONDocument = [
            "user": .string(user), "collection": .string(namespace.description),
            "visible": visible.document, "invisible": invisible.document,
        ]
        for change in Change.allCases {
            document.append(
                change.rawValue,
                .document(
                    BSONDocument(
                        (fields[change] ?? [:]).sorted { $0.key < $1.key }.map {
                            ($0.key.text, $0.value.document)
                        })))
        }
        return document
    }
}
