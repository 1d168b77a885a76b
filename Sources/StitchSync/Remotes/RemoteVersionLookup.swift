internal import BSONStore

/// A remote's answer to the lookup of one document's version.
///
/// ```swift
/// let versions = try await collection.versions(ids: [1, 2])
/// if case .found(let version, content: _) = versions[0] { print(version) }
/// ```
public enum RemoteVersionLookup: Sendable, Hashable {
    /// The version field of an existing document, and its fingerprint where the remote reports one.
    case found(VersionField, content: ContentFingerprint?)
    /// The document does not exist, or the list does not contain it.
    case absent
}
