/// Reads and writes the version document that synced documents carry.
public struct DocumentVersion: Sendable, Hashable {
    /// The top-level field that holds it.
    public static let fieldName = "__stitch_sync_version"
}
