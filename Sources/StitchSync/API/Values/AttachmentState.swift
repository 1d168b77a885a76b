/// Where the content of a file is.
public enum AttachmentState: Sendable, Hashable {
    /// On the device and at the remote.
    case here
    /// On the device; the remote has so many bytes of it.
    case sending(Int64)
    /// At the remote; the device has so many bytes of it and loads the rest.
    case loading(Int64)
    /// At the remote, as far as is known; the device loads it when it is asked for.
    case atRemote
    /// Nowhere yet, as far as the user may know: the device that has it has not sent it.
    case onItsWay
    /// The remote does not take the file, what it sent was not the file, or the content on the device is
    /// damaged: the reason.
    case failed(String)
}

/// What a round of transfers did.
public struct AttachmentReport: Sendable, Hashable {
    /// The number of files that the remote has now.
    public internal(set) var sent = 0
    /// The number of files that the device has now.
    public internal(set) var loaded = 0
    /// The number of files that wait: for their document to be sent, or for another device to send them.
    public internal(set) var waiting = 0
    /// The number of files that wait for a network that is not metered; see ``NetworkPolicy``.
    public internal(set) var heldBack = 0
    /// The number of files that failed; each has its reason in its state.
    public internal(set) var failed = 0
    /// The error after which a later round goes on: a lost connection, which ended the round early, or one
    /// of the remote's about a file that may pass.
    public internal(set) var error: RemoteError?

    /// Whether nothing is left to do, except for files that are held back.
    public var isDone: Bool { waiting == 0 && error == nil }
}
