internal import BSONStore

/// Bounds what a pass does at a time.
public struct SyncLimits: Sendable, Hashable {
    /// Documents in one request or transaction.
    public var batchDocuments = 500
    /// Bytes of documents in one request or answer; a larger document goes alone.
    public var batchBytes = 4 * 1024 * 1024
    /// Changes read from the remote's history at a time.
    public var changesPerRead = 1000
    /// How long the remote may take to answer one request; `nil` for ever.
    public var requestTimeout: Duration? = .seconds(60)
    /// How long a conflict handler may take.
    public var handlerTimeout: Duration = .seconds(30)
    /// How often in a row the remote may fail to take one document's change in for a reason that
    /// nobody knows; reasons that are known to pass do not count.
    public var failuresMax: Int64 = 20
    /// How many documents' last conflicts are kept in the store's file for `stitchsync diff`,
    /// `inspect` and `fixture record`, with all editions; 0 for none.
    public var conflictsKept = 16

    /// The limits that are used unless told.
    public init() {}

    /// The limits with nothing below one.
    var clamped: SyncLimits {
        var limits = self
        limits.batchDocuments = max(1, batchDocuments)
        limits.batchBytes = max(1, batchBytes)
        limits.changesPerRead = max(1, changesPerRead)
        limits.failuresMax = max(1, failuresMax)
        limits.conflictsKept = max(0, conflictsKept)
        return limits
    }
}
