public import BSONStore

/// The identity of a remote collection: which collection of which server it is.
///
/// A collection that was dropped and created again, or that belongs to another server, has another
/// identity. The engine stores the identity and compares it at the start of each pass, before it
/// uses any other answer of the remote. Failover, another host name, another user and other rules
/// do not change the identity.
///
/// ```swift
/// func identity() async throws(RemoteError) -> RemoteIdentity { .known(uuidOfTheCollection) }
/// ```
///
/// Source: Docs/SYNC.md, "Another remote".
public enum RemoteIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The remote cannot report its identity. Sync continues; absence alone never deletes.
    case unknown
    /// The collection does not exist at the remote.
    case notMade
    /// The collection exists and has this identity: MongoDB's UUID of the collection, or the value
    /// that an app's own remote returns instead.
    case known(BSONBinary)

    /// The UUID in its usual form, or `unknown`, or `not made`.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .notMade: "not made"
        case .known(let binary): Self.text(binary.bytes)
        }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if bytes.count == 16, [4, 6, 8, 10].contains(index) { text.append(0x2D) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A remote's record of a deleted document: evidence of the delete after the history has expired.
///
/// ```swift
/// let tombstone = RemoteTombstone(version: VersionField(of: document), isAfterPlace: true)
/// ```
public struct RemoteTombstone: Sendable, Hashable {
    /// The version field that the document had when it was deleted.
    public let version: VersionField
    /// Whether the delete is proved to be later than the given position in the history.
    public let isAfterPlace: Bool

    /// Makes a tombstone from its parts.
    public init(version: VersionField, isAfterPlace: Bool) {
        self.version = version
        self.isAfterPlace = isAfterPlace
    }
}
