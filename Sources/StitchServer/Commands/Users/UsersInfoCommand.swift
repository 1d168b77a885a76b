internal import BSONStore

/// Describes users.
///
/// Source: MongoDB manual, "usersInfo".
enum UsersInfoCommand {
    static let definition = CommandDefinition(
        "usersInfo", aliases: [], [],
        fields: [
            "showCredentials": .flag, "showCustomData": .flag, "showPrivileges": .flag,
            "showAuthenticationRestrictions": .flag, "filter": .document,
        ], required: [],
        privileges: .arguments(orElse: .userAdministration), underRules: .refused,
        gateway: .users(.selected),
        statements: nil, cursor: .none,
        .parsed { call, _ in
            let users = Result<UserSelection, any Error> { try UserSelection(call) }
            let needs = users.map { $0.databases.map { AccessNeed(.userAdministration, on: $0) } }
            return ParsedCommand(needs: needs.value) { try run(users.get(), call, $0) }
        })

    private static func run(
        _ selection: UserSelection, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> CommandOutcome {
        let filter = try Filter(selection.query)
        let extra = try Filter(call.document("filter") ?? [:])
        let found = try backend.read(call) { transaction in
            try transaction.find(User.namespace, filter: filter)
        }
        let users = found.compactMap(User.init)
            .map { $0.shown(withCredentials: call.flag("showCredentials")) }
            .filter { extra.matches($0) }
        return .reply(["users": .array(BSONArray(users.map(BSONValue.document)))])
    }
}

/// The users that a `usersInfo` asks for.
struct UserSelection: Sendable {
    private enum Part: Sendable {
        case all
        case ofDatabase(String)
        case one(String, database: String)

        /// The database of the users; the empty name stands for all databases.
        var database: String {
            switch self {
            case .all: ""
            case .ofDatabase(let database), .one(_, let database): database
            }
        }

        var query: BSONDocument {
            switch self {
            case .all: [:]
            case .ofDatabase(let database): ["db": .string(database)]
            case .one(let name, let database): ["user": .string(name), "db": .string(database)]
            }
        }
    }

    private let parts: [Part]

    /// - Throws: 2 (BadValue) for an invalid user name, and the end of the command's time.
    init(_ call: CommandCall) throws {
        switch call.target {
        case .string, .document: parts = [try Self.part(call.target, call)]
        case .array(let names):
            parts = try names.map { name in
                try WorkBudget.spend()
                return try Self.part(name, call)
            }
        default: parts = [.ofDatabase(call.database)]
        }
    }

    private static func part(
        _ value: BSONValue, _ call: CommandCall
    ) throws(CommandFailure) -> Part {
        if let name = value.stringValue { return .one(name, database: call.database) }
        let document = value.documentValue ?? [:]
        if document["forAllDBs"]?.isTrue == true { return .all }
        guard let user = document["user"]?.stringValue, let db = document["db"]?.stringValue
        else {
            throw CommandFailure(
                .badValue,
                "UserName must contain a 'user' field and a 'db' field, both strings")
        }
        return .one(user, database: db)
    }

    /// The databases of the users; the empty name stands for all databases.
    var databases: [String] { parts.map(\.database) }

    /// The filter that finds the users.
    var query: BSONDocument {
        switch parts.count {
        case 0: ["_id": ["$in": []]]
        case 1: parts[0].query
        default: ["$or": .array(BSONArray(parts.map { .document($0.query) }))]
        }
    }
}
