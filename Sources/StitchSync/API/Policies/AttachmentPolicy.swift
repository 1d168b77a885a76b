public import BSONStore

/// Which files of a collection are loaded without being asked for.
///
/// ```swift
/// await todos.configure(conflictHandler: .mergeFields(), attachments: .upTo(bytes: 1_000_000))
/// ```
public struct AttachmentPolicy: Sendable {
    /// Returns whether a file is to be loaded now; `nil` never loads.
    let loads: (@Sendable (Attachment) async -> Bool)?

    /// Only when the app asks for a file: the default.
    public static let whenAsked = AttachmentPolicy(loads: nil)

    /// Every file, as soon as the document is on the device.
    public static let withDocument = AttachmentPolicy { _ in true }

    /// Files up to a size; larger ones when the app asks for them.
    public static func upTo(bytes: Int64) -> AttachmentPolicy {
        AttachmentPolicy { $0.length <= bytes }
    }

    /// Files that the app chooses, for example by their type and the network that there is.
    ///
    /// A file that is refused is offered again with the next round of transfers.
    public static func when(
        _ isWanted: @escaping @Sendable (Attachment) async -> Bool
    ) -> AttachmentPolicy { AttachmentPolicy(loads: isWanted) }
}
