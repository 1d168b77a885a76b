import BSONStore
import StitchSync

/// One client of a simulated world.
struct SimulationClient {
    var store: DocumentStore
    var engine: SyncEngine
    var life: SimulationLife
    let handler: SimulationPlan.Handler
    /// Keeps the engine keeping its events; nobody steps them.
    var listeners: [SyncEvents<BSONDocument>.AsyncIterator] = []
    var isCutOff = false
    var isInPass = false
    /// Which remote the pass under way meets in place of the remote; `nil` for the remote.
    var elsewhere: SimulationElsewhere?
    var hasLooked = false
    /// What the events say the documents are.
    var told: [Int: BSONDocument] = [:]
    /// The last event by collection.
    var lastEvent: [Int64] = [0, 0]
    /// A copy of the store's file.
    var backup: String?
    /// Documents whose rows went past the engine, and whether a change waited in them.
    var lost: [Int: Bool] = [:]
    /// What was lost when the copy was made.
    var lostInBackup: [Int: Bool] = [:]
}
