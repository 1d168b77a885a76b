internal import BSONStore

/// Returns the MD5 hash of a GridFS file's chunks, for drivers that verify uploads.
///
/// Source: MongoDB manual, "filemd5"; GridFS specification, "Computing MD5".
enum Filemd5Command {
    static let definition = CommandDefinition(
        "filemd5", aliases: [], [.takesReadConcern],
        fields: ["root": .string, "partialOk": .flag, "md5state": .any], required: [],
        privileges: .access(.read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        guard !call.flag("partialOk"), call["md5state"] == nil else {
            throw CommandFailure(115, "filemd5 in parts is not supported")
        }
        let namespace = Namespace(call.database, (call.string("root") ?? "fs") + ".chunks")
        let filter = try Filter(["files_id": call.target])
        let options = try FindOptions(sort: SortOrder(["files_id": 1, "n": 1]))
        let digest = try RunningDigest(.md5)
        var count: Int32 = 0
        try backend.read(call) { transaction in
            try transaction.forEach(namespace, filter: filter, options: options) { chunk in
                try call.checkTime()
                guard chunk["n"]?.wholeNumber == Int(count) else {
                    throw CommandFailure(10040, "chunks out of order")
                }
                guard case .binary(let data)? = chunk["data"] else {
                    throw CommandFailure(
                        50847, "The element that calls binDataClean() must be type of BinData")
                }
                try data.bytes.withUnsafeBytes { try digest.add($0) }
                count += 1
            }
        }
        return .reply([
            "numChunks": .int32(count), "md5": .string(try digest.sum().hexadecimal),
        ])
    }
}
