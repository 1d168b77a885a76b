internal import BSONStore

/// The parts of an engine that its passes use.
struct PassEngine: Sendable {
    /// The store that holds the documents and their sync records.
    let store: DocumentStore
    let remote: any Remote
    let writer: any PassWriter
    let requests: RemoteRequests
    let limits: SyncLimits
    let clock: any Clock<Duration>
    /// The subscription sets as they were last read.
    let sets: SubscriptionCache
    let journal: SyncJournal
    let log: SyncLog
    let delivery: EventDelivery
    let progress: TransferProgress
    /// The stops that were reported to the app since the start.
    let reportedStops: Locked<[Namespace: SyncStop]>
    /// The remote's failures that come pass after pass.
    let failures: LastingFailures
    /// The hook of tests before each conflict handler.
    let conflictFound: (@Sendable (Conflict<BSONDocument>) async throws -> Void)?
    /// The hook of tests that chooses which answer arrives first.
    let answerArriving: (@Sendable (_ count: Int) -> Int)?
    /// What readings of the history leave out.
    let echoes: OwnEchoes
    /// What the loop that runs the pass knows of the histories; `nil` for a pass that asks itself.
    var history: HistoryWatch?
}

/// The transactions and settings of an engine, as its passes see them.
protocol PassWriter: Sendable {
    /// Whether passes may connect to the remote.
    var isOnline: Bool { get }

    /// Whether the references of documents that leave the device are stored, since the device has files.
    var keepsReferences: Bool { get }

    /// Runs a transaction over one collection's documents, records and events.
    ///
    /// - Parameter expanding: whether state that is stored once for several records is first
    ///   written to each of them.
    func write<R: Sendable>(
        _ namespace: Namespace, expanding: Bool,
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R

    /// Runs a transaction over the whole store.
    func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R

    /// Returns the app's handlers and policies for a collection.
    func configuration(of namespace: Namespace) -> CollectionConfiguration

    /// Returns whether a collection has a listener; `nil` where this is unknown.
    func listens(to namespace: Namespace) -> Bool?
}
