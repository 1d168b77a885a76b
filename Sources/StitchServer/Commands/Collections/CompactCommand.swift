internal import BSONStore

/// Returns unused space of the file to the system.
enum CompactCommand {
    static let definition = CommandDefinition(
        "compact", aliases: [], [.writes],
        fields: ["force": .flag, "freeSpaceTargetMB": .any], required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .store { call, backend in
            let namespace = try call.collection()
            try backend.read(call) { transaction in
                guard try transaction.options(namespace) != nil else {
                    throw CommandFailure(.namespaceNotFound, "collection does not exist")
                }
            }
            try backend.store.compact()
            return .reply(["bytesFreed": 0])
        })
}
