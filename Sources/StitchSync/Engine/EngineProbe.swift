/// Lets tests stop the engine at each of its transactions, as a kill would.
struct EngineProbe: Sendable {
    /// Commits run on the caller's thread, so that a run is repeated exactly and fast.
    var commitsHere = false
    /// Called before a transaction is committed; an error undoes it.
    var beforeCommit: @Sendable () throws -> Void = {}
    /// Called after it was committed; an error does not undo it.
    var afterCommit: @Sendable () throws -> Void = {}
}
