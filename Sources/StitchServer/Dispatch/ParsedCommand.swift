internal import BSONStore

/// The arguments of a command, parsed once: authorization and execution use the same value, so they
/// cannot read different databases from it.
///
/// A parse error is kept and thrown when the command runs.
indirect enum ParsedCommand: Sendable {
    /// A command that names no database but its own; its fields are read where they are used.
    case plain
    case aggregate(ParsedAggregate)
    case mapReduce(Result<MapReduceRequest, any Error>)
    /// The collections of a `bulkWrite`.
    case bulkWrite(Result<[Namespace], any Error>)
    case rename(Result<RenameRequest, any Error>)
    /// The roles to grant or revoke; `nil` where the command has no `roles`.
    case roles(Result<[Role]?, any Error>)
    case users(Result<UserSelection, any Error>)
    case explain(Result<ExplainRequest, any Error>)

    /// Parses a command.
    ///
    /// - Parameter isExplained: whether the command is explained and not run.
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
    /// - Throws: 1 (InternalError) for another command; the other properties, too.
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
