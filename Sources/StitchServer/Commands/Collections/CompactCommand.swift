internal import BSONStore

/// Returns unused space of the file to the system.
enum CompactCommand {
    static let rule = CommandDefinition(
        "compact", [.writes], fields: ["force": .flag, "freeSpaceTargetMB": .any],
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
