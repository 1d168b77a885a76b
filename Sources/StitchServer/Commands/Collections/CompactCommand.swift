internal import BSONStore

/// Returns unused space of the file to the system.
enum CompactCommand {
    static let definition = CommandDefinition(
        "compact", aliases: [], [.writes],
        fields: ["force": .flag, "freeSpaceTargetMB": .any], required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .store { call, store in
            let namespace = try call.collection()
            try store.read(call) { transaction in
                guard try transaction.options(namespace) != nil else {
                    throw CommandFailure(.namespaceNotFound, "collection does not exist")
                }
            }
            try store.store.compact()
            return .reply(["bytesFreed": 0])
        })
}
