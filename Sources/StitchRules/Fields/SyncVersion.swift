internal import BSONStore

/// The version field of synced documents, as far as rules must know it.
enum SyncVersion {
    static let field = "__stitch_sync_version"

    /// Whether a value is the first version that sync gives a document, and holds nothing else.
    static func isFirst(_ value: BSONValue) -> Bool {
        guard let version = value.documentValue,
            Set(version.keys) == ["spv", "id", "v", "op"], version.count == 4
        else { return false }
        guard version["spv"]?.int64Value == 1, version["v"]?.int64Value == 0,
            let id = version["id"]?.stringValue, id.utf8.count <= 64,
            case .binary(let operation)? = version["op"], operation.bytes.count <= 64
        else { return false }
        return true
    }
}
