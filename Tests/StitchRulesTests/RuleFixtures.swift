import BSONStore
import StitchRules

/// Rules and users that several tests use.
enum RuleFixtures {
    static let items = Namespace("shop", "items")

    /// Loads the rules of one collection from the JSON of its roles.
    static func rules(
        _ roles: String, values: String? = nil, sync: String? = nil, customData: Bool = false
    ) throws -> RuleSet {
        var files = ["data_sources/mongodb-atlas/shop/items/rules.json": #"{"roles": \#(roles)}"#]
        files["values/limit.json"] = values
        files["sync/config.json"] = sync
        return try load(files)
    }

    /// Loads files from their texts.
    static func load(_ files: [String: String], fallThrough: Bool = false) throws -> RuleSet {
        try RuleSet(
            files: files.mapValues { Array($0.utf8) }, legacyFallThrough: fallThrough)
    }

    /// What a user may do with the items.
    static func access(
        _ roles: String, _ user: RuleUser = RuleUser(id: "ann")
    ) throws -> RuleAccess {
        try rules(roles).access(to: items, for: user)
    }

    /// The outcome of a write in a word: `ok`, or the cause of the denial.
    static func outcome(
        _ access: RuleAccess, _ before: BSONDocument?, _ after: BSONDocument?
    ) -> String {
        do {
            _ = try access.judge(from: before, toShown: after)
            return "ok"
        } catch {
            return error.cause.name
        }
    }
}

extension RuleUser {
    /// A user with custom data.
    init(_ id: String, _ customData: BSONDocument) {
        self.init(id: id, customData: customData)
    }
}
