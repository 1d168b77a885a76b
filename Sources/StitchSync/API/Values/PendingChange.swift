/// Says in which way the local document differs from what the remote last confirmed.
///
/// No operation is stored: the change is the difference of base and local, computed when it is sent.
public enum PendingChange: String, Sendable, Hashable, CaseIterable {
    /// Nothing to send.
    case none
    /// The document is here and was not there.
    case insert
    /// The document is on both sides and differs.
    case update
    /// The document was there and is gone here.
    case delete
}
