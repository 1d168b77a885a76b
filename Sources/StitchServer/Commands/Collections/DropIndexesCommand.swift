internal import BSONStore

/// Removes indexes by name, by keys, or all.
enum DropIndexesCommand {
    static let definition = CommandDefinition(
        "dropIndexes", aliases: ["deleteIndexes"], .catalog,
        fields: ["index": .any, "isTimeseriesNamespace": .flag, "collectionUUID": .any],
        required: ["index"],
        privileges: .access(.collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .store { call, backend in
            let namespace = try call.collection()
            let wanted = call["index"] ?? .null
            return .reply(
                try backend.write(call) { transaction in
                    let count = try transaction.dropIndexes(namespace, wanted)
                    var reply: BSONDocument = ["nIndexesWas": .int32(Int32(clamping: count))]
                    if wanted == "*" {
                        reply.append("msg", "non-_id indexes dropped for collection")
                    }
                    return reply
                })
        })
}
