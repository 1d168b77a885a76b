public import BSONStore

/// The identity of a remote collection: which collection of which server it is.
///
/// Two collections of one name are different collections when one of them was made anew, or belongs to
/// another server. The engine stores the identity and compares it at the start of each pass, before it
/// believes anything that the remote says. Failover, another host name, another user and other rules
/// are not another identity.
///
/// ```swift
/// func identity() async throws(RemoteError) -> RemoteIdentity { .known(uuidOfTheCollection) }
/// ```
///
/// Source: Docs/SYNC.md, "Another remote".
public enum RemoteIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The remote cannot tell its identity. Sync goes on; absence alone never deletes.
    case unknown
    /// The collection does not exist at the remote.
    case notMade
    /// The collection exists and has this identity: MongoDB's UUID of the collection, or what a remote
    /// of the app's own gives in its place.
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

/// What a remote remembers of a document that was deleted: evidence of the delete, also after the
/// history has forgotten it.
public struct RemoteTombstone: Sendable, Hashable {
    /// The version field that the document had when it was deleted.
    public let version: VersionField
    /// Whether the delete came after the place in the history that was asked about, by proof.
    public let isAfterPlace: Bool

    /// Makes a tombstone of its parts.
    public init(version: VersionField, isAfterPlace: Bool) {
        self.version = version
        self.isAfterPlace = isAfterPlace
    }
}
