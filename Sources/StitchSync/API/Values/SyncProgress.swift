internal import BSONStore

/// Counts what an engine has carried since it was set up.
public struct SyncProgress: Sendable, Hashable {
    /// Changes that the remote took in.
    public var uploadedDocuments = 0
    /// Bytes of documents and paths in writes that were sent, taken in or not.
    public var uploadedBytes = 0
    /// Remote documents that were looked at; each once, also where it took more than one look.
    public var downloadedDocuments = 0
    /// Bytes of the remote documents that were looked at.
    public var downloadedBytes = 0
    /// Changes still to be sent, over all collections.
    public var pendingUploads = 0
    /// Remote documents still to be looked at, over all collections; those of subscriptions that are
    /// coming in count where the remote tells how many there are.
    public var pendingDownloads = 0
    /// What ``uploadedDocuments`` is once everything that waits now was sent.
    ///
    /// Known from the start of a pass; it grows when something is written meanwhile.
    public var totalUploads = 0
    /// What ``downloadedDocuments`` is once everything was looked at that is known to wait.
    ///
    /// Known from the start of a pass, for a set of subscriptions once its first query is asked; it grows
    /// when the remote tells of more.
    public var totalDownloads = 0

    /// Counts nothing.
    public init() {}
}
