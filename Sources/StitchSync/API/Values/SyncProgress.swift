internal import BSONStore

/// The transfers of an engine since its creation, and those still pending.
///
/// ```swift
/// for try await progress in engine.progressUpdates {
///     print("\(progress.downloadedDocuments) of \(progress.totalDownloads)")
/// }
/// ```
public struct SyncProgress: Sendable, Hashable, CustomStringConvertible {
    /// Changes that the remote applied.
    public var uploadedDocuments = 0
    /// Bytes of documents and paths in all uploads, applied or not.
    public var uploadedBytes = 0
    /// Remote documents that were fetched; a document that needed several fetches counts once.
    public var downloadedDocuments = 0
    /// Bytes of the remote documents that were fetched.
    public var downloadedBytes = 0
    /// Changes still to be uploaded, over all collections.
    public var pendingUploads = 0
    /// Remote documents still to be fetched, over all collections.
    ///
    /// Documents of a subscription that is being downloaded count where the remote reports their
    /// number.
    public var pendingDownloads = 0
    /// The value of ``uploadedDocuments`` once all pending changes are uploaded.
    ///
    /// It is known from the start of a pass and grows with local writes meanwhile.
    public var totalUploads = 0
    /// The value of ``downloadedDocuments`` once all known remote changes are fetched.
    ///
    /// It is known from the start of a pass, for a subscription set once its first query is sent,
    /// and grows when the remote reports more changes.
    public var totalDownloads = 0

    /// Makes a progress of zero.
    public init() {}

    /// The documents and bytes in both directions.
    public var description: String {
        "\(uploadedDocuments) of \(totalUploads) uploaded (\(uploadedBytes) bytes), "
            + "\(downloadedDocuments) of \(totalDownloads) downloaded (\(downloadedBytes) bytes)"
    }
}
