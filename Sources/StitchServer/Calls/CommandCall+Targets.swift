internal import BSONStore

// Targets that need more than the usual access.
extension CommandCall {
    /// The virtual collection that the command names; `nil` for another one.
    var serverCollection: ServerCollection? {
        guard let name = target.stringValue else { return nil }
        return ServerCollection.allCases.first {
            database == $0.namespace.database && name.hasSameBytes(as: $0.namespace.collection)
        }
    }

    /// Whether the command reads a virtual collection, which needs an administrator of its database.
    var readsServerCollection: Bool {
        signature.traits.contains(.readsServerCollection) && serverCollection != nil
    }

    /// Whether the command is a pipeline that lists sessions and reads nothing else.
    var listsSessionsAlone: Bool {
        guard let stages = body["pipeline"]?.arrayValue, stages.count == 1 else { return false }
        return stages[0]?.documentValue?.keys.first == "$listSessions"
    }

    /// Whether any part of the command names the users' credentials.
    var namesCredentials: Bool {
        database == "admin" && body.extendedJSON().contains("system.users")
    }
}
