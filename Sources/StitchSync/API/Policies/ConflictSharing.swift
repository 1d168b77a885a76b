/// The sharing of a device's conflicts with the server, so that the app's developers can replay them.
///
/// Each conflict that the app's handler met is stored with all editions and the handler's decision, and
/// sent after a pass to the collection `stitchsync.conflicts` of `stitchsync serve` or a gateway. At most
/// 100 conflicts wait on the device, each of at most 64 KiB; older ones are removed. Sync never waits for
/// a conflict that cannot be sent. A remote that is not `ServerRemote` takes none.
///
/// ```swift
/// await todos.configure(
///     conflictHandler: handler, sharesConflicts: .redacting(["owner.name", "phone"]))
/// ```
public struct ConflictSharing: Sendable, Hashable {
    /// The dotted paths of the fields whose values are replaced by their types.
    public let redactedPaths: [String]
    /// The app's version, which each shared conflict states.
    public let appVersion: String?

    /// Shares conflicts with the values at some dotted paths replaced by their types, as `(string)`.
    ///
    /// A second value at the same path is `(string 2)`, so that a replayed conflict still differs where
    /// the real one did. Elements of arrays are replaced, too. The `_id` stays.
    public static func redacting(_ paths: [String], appVersion: String? = nil) -> Self {
        Self(redactedPaths: paths, appVersion: appVersion)
    }

    /// Shares conflicts with all fields.
    public static func complete(appVersion: String? = nil) -> Self {
        Self(redactedPaths: [], appVersion: appVersion)
    }
}
