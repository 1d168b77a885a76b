import BSONStore

@testable import StitchServer

/// The answers of two servers, without what differs by nature.
enum TwinAnswers {
    private static let different: Set<String> = [
        "$clusterTime", "operationTime", "_data", "clusterTime", "wallTime", "atClusterTime",
        "uuid", "resumeToken", "postBatchResumeToken", "electionId", "executionTimeMillis",
        "serverInfo", "opTime", "lsid",
    ]

    /// Returns an answer without times, tokens of streams, and numbers of cursors.
    static func alike(_ document: BSONDocument) -> BSONDocument {
        BSONDocument(document.map { ($0.key, alike($0.value, $0.key)) })
    }

    private static func alike(_ value: BSONValue, _ key: String) -> BSONValue {
        if different.contains(key) { return "*" }
        switch value {
        case .document(let document): return .document(alike(document))
        case .array(let array): return .array(BSONArray(array.map { alike($0, "") }))
        case .objectID: return "objectId"
        case .string(let text) where key == "errmsg":
            // The error repeats the command.
            let parts = text.split(separator: " to execute command ", maxSplits: 1)
            return .string(parts.first.map(String.init) ?? "")
        case .int32, .int64:
            return key == "id" ? .int64(min(value.int64Value ?? 0, 1)) : value
        default: return value
        }
    }
}
