internal import BSONStore

// Targets that need more than the usual access.
extension CommandCall {
    /// Whether the command names the virtual collection of denied writes.
    var namesDeniedWrites: Bool {
        guard database == DeniedWrites.namespace.database, let name = target.stringValue else {
            return false
        }
        return name == DeniedWrites.namespace.collection
    }

    /// Whether the command reads the denied writes, which needs an administrator of its database.
    var readsDeniedWrites: Bool {
        signature.traits.contains(.readsDeniedWrites) && namesDeniedWrites
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
