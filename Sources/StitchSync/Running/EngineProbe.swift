package import BSONStore

/// The hooks by which tests stop the engine at any transaction, as a kill would.
package struct EngineProbe: Sendable {
    /// A hook that receives a conflict before its handler.
    package typealias ConflictFound = @Sendable (Conflict<BSONDocument>) async throws -> Void

    /// Whether commits run on the caller's thread, so that a run is fast and repeatable.
    let commitsOnCallingThread: Bool
    /// Runs before each commit; an error rolls the transaction back.
    let beforeCommit: @Sendable () throws -> Void
    /// Runs after each commit; an error does not undo it.
    let afterCommit: @Sendable () throws -> Void
    /// Runs before each conflict handler.
    ///
    /// With this hook, even a fixed resolution goes through the handler.
    let conflictFound: ConflictFound?
    /// Chooses which of several answers a pass receives first; `nil` leaves it to the network.
    ///
    /// With this hook, the requests of an upload run one after the other.
    let answerArriving: (@Sendable (_ count: Int) -> Int)?
    /// Runs after each pass, before its caller receives the report.
    let passEnded: @Sendable (SyncPassReport) async throws -> Void

    /// Makes a probe, whose hooks do nothing by default.
    package init(
        commitsOnCallingThread: Bool = false,
        answerArriving: (@Sendable (_ count: Int) -> Int)? = nil,
        beforeCommit: @escaping @Sendable () throws -> Void = {},
        afterCommit: @escaping @Sendable () throws -> Void = {},
        conflictFound: ConflictFound? = nil,
        passEnded: @escaping @Sendable (SyncPassReport) async throws -> Void = { _ in }
    ) {
        self.commitsOnCallingThread = commitsOnCallingThread
        self.beforeCommit = beforeCommit
        self.afterCommit = afterCommit
        self.conflictFound = conflictFound
        self.answerArriving = answerArriving
        self.passEnded = passEnded
    }
}
