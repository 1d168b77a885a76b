internal import BSONStore

extension SyncEngine {
    /// Sets who gets the lines that the engine writes about compensating writes; nobody unless told.
    ///
    /// It is called on the engine's tasks and should return soon.
    public func setLogHandler(_ handler: (@Sendable (SyncLogLine) -> Void)?) { log.set(handler) }
}
