internal import BSONStore

/// The value of `$$USER_ROLES` in a command that a gateway forwards.
///
/// The upstream knows the roles of the gateway's own user only, so each expression that reads the
/// variable is sent with the roles of the client's user.
struct OwnRoles {
    private static let variable = "$$USER_ROLES"
    /// The name that a path into the roles starts with upstream.
    private static let name = "userRoles"
    private let roles: BSONValue

    /// - Parameter user: the client's user; `nil` for one who has not signed in.
    init(of user: SignedInUser?) {
        roles = ["$literal": .array(BSONArray((user?.roles ?? []).map(\.variable)))]
    }

    /// Returns a command with the roles in its expressions; texts elsewhere are data.
    ///
    /// - Throws: 50 (MaxTimeMSExpired), 11601 and 11600 when its time is over.
    func command(_ command: BSONDocument) throws(StoreError) -> BSONDocument {
        try mapped(command) { key, value throws(StoreError) in
            switch (key, value) {
            case ("pipeline", _), ("projection", _), ("fields", _), ("let", _), ("c", _),
                ("constants", _), ("u", .array), ("update", .array), ("updateMods", .array):
                try expression(value)
            case ("filter", .document(let filter)), ("query", .document(let filter)),
                ("q", .document(let filter)):
                .document(try self.filter(filter))
            case ("updates", .array(let parts)), ("deletes", .array(let parts)),
                ("ops", .array(let parts)):
                try mapped(parts) { part throws(StoreError) in
                    guard let part = part.documentValue else { return part }
                    return .document(try self.command(part))
                }
            case ("explain", .document(let explained)): .document(try self.command(explained))
            default: value
            }
        }
    }

    /// Returns a filter with the roles in its expressions.
    private func filter(_ filter: BSONDocument) throws(StoreError) -> BSONDocument {
        try mapped(filter) { key, value throws(StoreError) in
            switch (key, value) {
            case ("$expr", _): try expression(value)
            case ("$and", .array(let parts)), ("$or", .array(let parts)),
                ("$nor", .array(let parts)):
                try mapped(parts) { part throws(StoreError) in
                    guard let part = part.documentValue else { return part }
                    return .document(try self.filter(part))
                }
            default: value
            }
        }
    }

    /// Returns an expression, or stages, with the roles in them.
    private func expression(_ value: BSONValue) throws(StoreError) -> BSONValue {
        switch value {
        case .string(Self.variable): return roles
        case .string(let text) where text.hasBytePrefix(Self.variable + "."):
            let path = "$$\(Self.name)" + text.droppingBytes(Self.variable.utf8.count)
            return ["$let": ["vars": [Self.name: roles], "in": .string(path)]]
        case .document(let document):
            return .document(
                try mapped(document) { key, value throws(StoreError) in
                    switch (key, value) {
                    case ("$literal", _), ("$const", _): value
                    case ("$match", .document(let filter)),
                        ("restrictSearchWithMatch", .document(let filter)):
                        .document(try self.filter(filter))
                    case ("$geoNear", .document(let search)):
                        .document(try self.command(search))
                    default: try expression(value)
                    }
                })
        case .array(let array): return try mapped(array, expression)
        default: return value
        }
    }

    private func mapped(
        _ document: BSONDocument,
        _ map: (String, BSONValue) throws(StoreError) -> BSONValue
    ) throws(StoreError) -> BSONDocument {
        var result = BSONDocument()
        for (key, value) in document {
            try WorkBudget.spend()
            result.append(key, try map(key, value))
        }
        return result
    }

    private func mapped(
        _ array: BSONArray, _ map: (BSONValue) throws(StoreError) -> BSONValue
    ) throws(StoreError) -> BSONValue {
        var values: [BSONValue] = []
        for value in array {
            try WorkBudget.spend()
            values.append(try map(value))
        }
        return .array(BSONArray(values))
    }
}
