internal import BSONStore

/// The limits of a pass's requests, transactions and handlers.
///
/// ```swift
/// var limits = SyncLimits()
/// limits.requestTimeout = .seconds(20)
/// let engine = try SyncEngine(store: store, remote: remote, limits: limits)
/// ```
public struct SyncLimits: Sendable, Hashable {
    /// The maximum number of documents in one request or transaction.
    public var batchDocuments = 500
    /// The maximum number of bytes in one request or response; a larger document travels alone.
    public var batchBytes = 4 * 1024 * 1024
    /// The maximum number of changes in one read of the remote's history.
    public var changesPerRead = 1000
    /// The time limit of one request; `nil` sets none.
    public var requestTimeout: Duration? = .seconds(60)
    /// The time limit of one call of a conflict handler.
    public var handlerTimeout: Duration = .seconds(30)
    /// The longest time that ``SyncEngine/close()`` waits for a listener's closure.
    public var closeTimeout: Duration = .seconds(5)
    /// The maximum number of consecutive unknown errors for one document's change; known temporary
    /// errors do not count.
    public var failuresMax: Int64 = 20
    /// The number of documents whose last conflict the store's file keeps with all editions, for
    /// `stitchsync diff`, `inspect` and `fixture record`; 0 keeps none.
    public var conflictsKept = 16
    /// The number of steps in the stories of documents that the store's file keeps, for
    /// ``SyncCollection/history(of:limit:before:)`` and `stitchsync trace`; 0 adds none.
    public var historyKept = 50_000
    /// The maximum number of bytes of such steps.
    public var historyBytesKept = 8 * 1024 * 1024

    /// The number of events of a collection that wait for a listener, above which the oldest events
    /// of a document are merged into one; see Docs/SYNC.md.
    public var eventsKept = 10_000
    /// The number of bytes of such events with the same effect.
    public var eventBytesKept = 16 * 1024 * 1024

    /// Makes the default limits.
    public init() {}

    /// The shortest time over which failures of a query have to last to count as a refusal.
    var failureSpan: Duration = .seconds(60)

    /// The number of documents that can exchange values of a unique index across batches: so many
    /// go in one request and one transaction, unless a batch may hold more.
    var exchangedDocuments: Int { max(batchDocuments, 1_000) }

    /// Whether the engine adds steps to the stories of documents.
    var keepsHistory: Bool { historyKept > 0 && historyBytesKept > 0 }

    /// The limits with each count raised to its minimum.
    var clamped: SyncLimits {
        var limits = self
        limits.batchDocuments = max(1, batchDocuments)
        limits.batchBytes = max(1, batchBytes)
        limits.changesPerRead = max(1, changesPerRead)
        limits.failuresMax = max(1, failuresMax)
        limits.conflictsKept = max(0, conflictsKept)
        limits.historyKept = max(0, historyKept)
        limits.historyBytesKept = max(0, historyBytesKept)
        limits.eventsKept = max(1, eventsKept)
        limits.eventBytesKept = max(1, eventBytesKept)
        return limits
    }
}
