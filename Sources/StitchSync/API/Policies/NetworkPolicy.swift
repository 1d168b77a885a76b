internal import BSONStore

/// The transfers that a running engine starts by itself while the network is metered.
///
/// Calls of the app, such as ``SyncEngine/syncNow()`` and ``AttachmentFile/bytes()``, work with any
/// policy.
///
/// ```swift
/// engine.setNetworkPolicy(.filesUpTo(bytes: 100_000))
/// ```
public enum NetworkPolicy: Sendable, Hashable {
    /// Documents and files: the default.
    case everything
    /// Documents, and files of at most so many bytes; larger files wait.
    case filesUpTo(bytes: Int64)
    /// Documents; files wait.
    case documentsOnly
    /// Nothing: changes queue until the app calls ``SyncEngine/syncNow()``.
    case onlyWhenAsked

    /// Whether passes run by themselves.
    var allowsPasses: Bool {
        switch self {
        case .everything, .filesUpTo, .documentsOnly: true
        case .onlyWhenAsked: false
        }
    }

    /// Whether a file is sent or loaded by itself.
    func allows(_ file: Attachment) -> Bool {
        switch self {
        case .everything: true
        case .filesUpTo(let bytes): file.length <= bytes
        case .documentsOnly, .onlyWhenAsked: false
        }
    }
}
