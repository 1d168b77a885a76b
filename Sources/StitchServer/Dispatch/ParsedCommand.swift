internal import BSONStore

/// Is what a command asks for, read once: who authorises it and who carries it out use this value,
/// so that the one cannot find another database in it than the other.
///
/// What cannot be read is kept as the error, which is told when the command is carried out.
indirect enum ParsedCommand: Sendable {
    /// It names no other database than its own; its fields are read where they are used.
    case plain
    case aggregate(ParsedAggregate)
    case mapReduce(Result<MapReduceRequest, any Error>)
    /// The collections of a `bulkWrite`.
    case bulkWrite(Result<[Namespace], any Error>)
    case rename(Result<RenameRequest, any Error>)
    /// The roles that a user is given or loses; `nil` where the command says nothing of them.
    case roles(Result<[Role]?, any Error>)
    case users(Result<UserSelection, any Error>)
    case explain(Result<ExplainRequest, any Error>)

    /// Reads a command.
    ///
    /// - Parameter isExplained: whether it is to be told how it would be carried out.
    init(
        _ rule: CommandDefinition, _ call: CommandCall, _ store: StoreBackend,
        isExplained: Bool = false
    ) {
        switch rule.name {
        case "aggregate":
            let runs = !isExplained && !call.flag("explain")
            self = .aggregate(ParsedAggregate(call, runs ? store : nil))
        case "mapReduce": self = .mapReduce(Result { try MapReduceRequest(call) })
        case "bulkWrite": self = .bulkWrite(Result { try BulkWriteCommand.namespaces(call) })
        case "renameCollection": self = .rename(Result { try RenameRequest(call) })
        case "createUser", "updateUser", "grantRolesToUser", "revokeRolesFromUser":
            self = .roles(
                Result { try call.array("roles").map { try Role.roles($0, on: call.database) } })
        case "usersInfo": self = .users(Result { try UserSelection(call) })
        case "explain": self = .explain(Result { try ExplainRequest(call, store) })
        default: self = .plain
        }
    }
}

extension ParsedCommand {
    /// - Throws: 1 (InternalError) for another command; so do the others.
    var aggregate: ParsedAggregate {
        get throws {
            guard case .aggregate(let aggregate) = self else { throw Self.unread }
            return aggregate
        }
    }

    var mapReduce: MapReduceRequest {
        get throws {
            guard case .mapReduce(let request) = self else { throw Self.unread }
            return try request.get()
        }
    }

    var namespaces: [Namespace] {
        get throws {
            guard case .bulkWrite(let namespaces) = self else { throw Self.unread }
            return try namespaces.get()
        }
    }

    var rename: RenameRequest {
        get throws {
            guard case .rename(let request) = self else { throw Self.unread }
            return try request.get()
        }
    }

    var roles: [Role]? {
        get throws {
            guard case .roles(let roles) = self else { throw Self.unread }
            return try roles.get()
        }
    }

    var users: UserSelection {
        get throws {
            guard case .users(let users) = self else { throw Self.unread }
            return try users.get()
        }
    }

    var explain: ExplainRequest {
        get throws {
            guard case .explain(let request) = self else { throw Self.unread }
            return try request.get()
        }
    }

    private static var unread: CommandFailure {
        CommandFailure(1, "The command was not read before it was carried out; please report this")
    }
}
