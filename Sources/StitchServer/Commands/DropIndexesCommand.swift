internal import BSONStore

/// Removes indexes by name, by keys, or all.
enum DropIndexesCommand {
    static let rule = CommandRule(
        "dropIndexes", aliases: ["deleteIndexes"], .catalog,
        fields: ["index": .any, "isTimeseriesNamespace": .flag, "collectionUUID": .any],
        required: ["index"], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let wanted = call["index"] ?? .null
        return .reply(
            try store.write(call) { transaction in
                guard try transaction.options(namespace) != nil else {
                    throw CommandFault(.namespaceNotFound, "ns not found \(namespace)")
                }
                let indexes = try transaction.indexes(namespace)
                for name in try names(wanted, indexes) {
                    try transaction.dropIndex(namespace, name: name)
                }
                var reply: BSONDocument = ["nIndexesWas": .int32(Int32(indexes.count))]
                if wanted.stringValue == "*" {
                    reply.append("msg", "non-_id indexes dropped for collection")
                }
                return reply
            })
    }

    private static func names(
        _ wanted: BSONValue, _ indexes: [IndexDefinition]
    ) throws(CommandFault) -> [String] {
        switch wanted {
        case .string("*"): return indexes.map(\.name).filter { $0 != "_id_" }
        case .string(let name): return [try existing(name, indexes)]
        case .array(let array):
            var names: [String] = []
            for (position, value) in array.enumerated() {
                guard let name = value.stringValue else {
                    throw CommandFault(
                        .typeMismatch,
                        "BSON field 'dropIndexes.index.\(position)' is the wrong type "
                            + "'\(value.type.serverName)', expected type 'string'")
                }
                names.append(try existing(name, indexes))
            }
            return names
        case .document(let keys):
            if keys.contentEquals(["_id": 1] as BSONDocument) { return ["_id_"] }
            guard let index = indexes.first(where: { $0.keyPattern.contentEquals(keys) }) else {
                throw CommandFault(
                    .indexNotFound,
                    "can't find index with key: \(ShellText.text(of: .document(keys)))")
            }
            return [index.name]
        default:
            throw CommandFault(
                .typeMismatch,
                "BSON field 'dropIndexes.index' is the wrong type '\(wanted.type.serverName)', "
                    + "expected types '[string, object]'")
        }
    }

    private static func existing(
        _ name: String, _ indexes: [IndexDefinition]
    ) throws(CommandFault) -> String {
        guard name != "_id_" else {
            throw CommandFault(.invalidOptions, "cannot drop _id index")
        }
        guard indexes.contains(where: { $0.name == name }) else {
            throw CommandFault(.indexNotFound, "index not found with name [\(name)]")
        }
        return name
    }
}
