internal import BSONStore

/// Tells of users.
///
/// Source: MongoDB manual, "usersInfo".
enum UsersInfoCommand {
    static let rule = CommandRule(
        "usersInfo", [],
        fields: [
            "showCredentials": .flag, "showCustomData": .flag, "showPrivileges": .flag,
            "showAuthenticationRestrictions": .flag, "filter": .document,
        ],
        .store { call, store in
            let filter = try Filter(Self.query(call))
            let extra = try Filter(call.document("filter") ?? [:])
            let found = try store.read(call) { transaction in
                try transaction.find(User.namespace, filter: filter)
            }
            let users = found.compactMap(User.init)
                .map { $0.shown(withCredentials: call.flag("showCredentials")) }
                .filter { extra.matches($0) }
            return .reply(["users": .array(BSONArray(users.map(BSONValue.document)))])
        })

    /// The databases whose users are told of; the empty name stands for all of them.
    static func databases(_ call: CommandCall) -> [String] {
        let named = call.target.arrayValue.map(Array.init) ?? [call.target]
        return named.map { value in
            guard let document = value.documentValue else { return call.database }
            if document["forAllDBs"]?.isTrue == true { return "" }
            return document["db"]?.stringValue ?? call.database
        }
    }

    private static func query(_ call: CommandCall) throws(CommandFault) -> BSONDocument {
        switch call.target {
        case .string, .document: return try one(call.target, call)
        case .array(let names):
            var queries: [BSONValue] = []
            for name in names { queries.append(.document(try one(name, call))) }
            return queries.isEmpty ? ["_id": ["$in": []]] : ["$or": .array(BSONArray(queries))]
        default: return ["db": .string(call.database)]
        }
    }

    private static func one(
        _ value: BSONValue, _ call: CommandCall
    ) throws(CommandFault) -> BSONDocument {
        if let name = value.stringValue {
            return ["user": .string(name), "db": .string(call.database)]
        }
        let document = value.documentValue ?? [:]
        if document["forAllDBs"]?.isTrue == true { return [:] }
        guard let user = document["user"]?.stringValue, let db = document["db"]?.stringValue
        else {
            throw CommandFault(
                .badValue,
                "UserName must contain a 'user' field and a 'db' field, both strings")
        }
        return ["user": .string(user), "db": .string(db)]
    }
}
