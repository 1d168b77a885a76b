package import BSONStore
internal import StitchRules

/// The rules of a folder, for commands that check, explain and compare rules without a server.
package struct RuleFolder: Sendable {
    let rules: RuleSet
    private let files: [(path: String, bytes: [UInt8])]

    /// Reads the rules of a folder.
    ///
    /// - Throws: `RuleError` for invalid rules, and file errors.
    package init(_ folder: String) throws {
        try self.init(files: try ReloadableRules.files(folder))
    }

    /// Reads the rules of files.
    ///
    /// - Throws: `RuleError` for invalid rules.
    init(files: [(path: String, bytes: [UInt8])]) throws {
        self.files = files
        rules = try RuleSet(entries: files)
    }

    /// Takes rules that are loaded, without their files.
    init(inForce rules: RuleSet) {
        files = []
        self.rules = rules
    }

    /// Checks the rules of a folder.
    ///
    /// - Returns: the errors and warnings, and the rules if they have no error.
    /// - Throws: file errors.
    package static func check(
        _ folder: String
    ) throws -> (findings: [RuleFinding], rules: RuleFolder?) {
        let files = try ReloadableRules.files(folder)
        let findings = findings(files, isStrict: true)
        guard !findings.contains(where: \.isError) else { return (findings, nil) }
        return (findings, try RuleFolder(files: files))
    }

    /// Returns the first error of each file, or the warnings of rules without an error.
    ///
    /// - Parameter isStrict: whether the warnings include those that a start does not report.
    static func findings(
        _ files: [(path: String, bytes: [UInt8])], isStrict: Bool
    ) -> [RuleFinding] {
        var (left, errors): ([(path: String, bytes: [UInt8])], [RuleFinding]) = (files, [])
        while true {
            do throws(RuleError) {
                let rules = try RuleSet(entries: left)
                guard errors.isEmpty else { return errors }
                let warnings = rules.warnings + (isStrict ? rules.suspicions : [])
                return warnings.map { warning in
                    finding(warning.file, warning.path, warning.message, files)
                } + rules.unsyncable(files)
            } catch {
                errors.append(finding(error.file, error.path, error.message, files, isError: true))
                let count = left.count
                left.removeAll { $0.path.hasSameBytes(as: error.file) }
                guard left.count < count else { return errors }
            }
        }
    }

    static func finding(
        _ file: String, _ path: String, _ message: String,
        _ files: [(path: String, bytes: [UInt8])], isError: Bool = false
    ) -> RuleFinding {
        let text = files.first { $0.path.hasSameBytes(as: file) }?.bytes ?? []
        return RuleFinding(isError: isError, file: file, path: path, message: message, in: text)
    }

    /// The collections with roles of their own.
    package var namespaces: [Namespace] { rules.collectionFiles.map(\.namespace) }

    /// Whether collections without roles of their own have default roles.
    package var hasDefaults: Bool { rules.hasDefaults }

    /// The collection of the users' custom data; `nil` without one.
    package var customDataPlace: Namespace? { rules.customData?.namespace }

    /// Returns the command that finds a user's custom data, and its database; `nil` without custom
    /// data.
    package func customDataQuery(
        of user: RuledUser
    ) -> (command: BSONDocument, database: String)? {
        guard let source = rules.customData else { return nil }
        let filter: BSONDocument = [source.userIDField: ["$eq": .string(user.id)]]
        return (
            [
                "find": .string(source.namespace.collection), "filter": .document(filter),
                "limit": 1,
            ], source.namespace.database
        )
    }

    /// Explains what a user may do with a document.
    package func explanation(
        of document: BSONDocument, in namespace: Namespace, to user: RuledUser
    ) -> RuleExplanation {
        guard !user.isBoundless else { return RuleExplanation(unbound: document) }
        return RuleExplanation(of: document, in: namespace, to: user.ruleUser, under: rules)
    }

    /// Returns warnings about the rules' collections in a database.
    ///
    /// - Parameters:
    ///   - indexes: the first fields of the indexes, by collection; a missing collection does not
    ///     exist.
    ///   - customFields: the fields that documents of custom data have; `nil` if unknown.
    package func findings(
        indexes: [Namespace: [String]], customFields: [String]?
    ) -> [RuleFinding] {
        var found = missing(rules.collectionFiles.filter { indexes[$0.namespace] == nil })
        for use in rules.filterUses {
            guard let first = indexes[use.namespace] else { continue }
            guard
                !use.fields.contains(where: { field in
                    field.hasSameBytes(as: "_id") || first.contains { $0.hasSameBytes(as: field) }
                })
            else { continue }
            let names = use.fields.map { "\"\($0)\"" }.joined(separator: ", ")
            found.append(
                Self.finding(
                    use.file, use.path,
                    "No index of \(use.namespace) begins with a field of the filters (\(names)): "
                        + "each read tests every document", files))
        }
        guard let customFields else { return found }
        let known = Set(customFields.map { Name($0) })
        for use in rules.customDataUses where !known.contains(Name(use.field)) {
            found.append(
                Self.finding(
                    use.file, use.path,
                    "No document of custom data has the field \"\(use.field)\"", files))
        }
        return found
    }
}

extension RuleFolder {
    /// Returns one warning for all collections that do not exist, since a new app has none yet.
    private func missing(_ entries: [(namespace: Namespace, file: String)]) -> [RuleFinding] {
        guard let first = entries.first else { return [] }
        let names = entries.map(\.namespace.description)
        let message =
            entries.count == 1
            ? "The collection \(names[0]) does not exist"
            : "\(entries.count) collections of the rules do not exist: "
                + names.joined(separator: ", ")
        return [Self.finding(first.file, "", message + "; the first write creates it", files)]
    }
}

extension RuleSet {
    /// The roles that sync cannot use, as warnings.
    fileprivate func unsyncable(_ files: [(path: String, bytes: [UInt8])]) -> [RuleFinding] {
        guard isSynced else { return [] }
        return syncFindings.map { found in
            RuleFolder.finding(
                found.file, found.path,
                "sync cannot use the role \"\(found.role)\": \(found.message)", files)
        }
    }
}

/// A user for whom rules are tried.
package struct RuledUser: Sendable {
    var ruleUser: RuleUser
    /// The user's name and database for people.
    package let name: String
    /// Whether no rules apply to the user.
    package let isBoundless: Bool
    /// The user's roles; `nil` for a user who is not stored.
    private let roles: [Role]?

    /// Takes a user of a reply to `usersInfo`; `nil` for an invalid one, and for an anonymous one who
    /// registered or deleted the account.
    package init?(listed document: BSONDocument) {
        guard let user = User(document),
            AnonymousSignIn.ending(of: user, hasAccount: { _ in true }) == nil
        else { return nil }
        let signedIn = user.signedIn(isUnderRules: true)
        ruleUser = UserRules.ruleUser(signedIn, data: user.customData?.documentValue)
        name = "\(user.name)@\(user.database)"
        isBoundless = signedIn.isBoundless
        roles = signedIn.roles
    }

    /// Takes a user who is not stored.
    package init(id: String) {
        ruleUser = RuleUser(id: id)
        name = id
        isBoundless = false
        roles = nil
    }

    /// Whether the user has a role that may give access to a database; without one the server
    /// refuses each command before it asks the rules.
    package func hasRole(on database: String) -> Bool {
        guard let roles else { return true }
        return roles.contains { role in
            role.database.hasSameBytes(as: database)
                || role.database.hasSameBytes(as: "admin")
                    && !Self.rolesOfOneDatabase.contains(role.name)
        }
    }

    /// The roles that give access to the database that they are on only.
    private static let rolesOfOneDatabase: Set<String> = [
        "read", "readWrite", "dbAdmin", "dbOwner", "userAdmin",
    ]

    /// The user's id in rules.
    package var id: String { ruleUser.id }

    /// Sets the user's custom data.
    package mutating func setCustomData(_ document: BSONDocument?) {
        ruleUser.customData = document
    }
}
