internal import BSONStore

/// Answers a look for one document's version.
public enum RemoteVersionLookup: Sendable, Hashable {
    /// The version field of a document that exists, and what its content is known by where the remote
    /// tells.
    case found(VersionField, content: ContentFingerprint?)
    /// There is none, or the list does not show it.
    case absent
}
