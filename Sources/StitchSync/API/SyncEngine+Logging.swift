internal import BSONStore

extension SyncEngine {
    /// Sets the handler of log lines about compensating writes; the default, `nil`, drops them.
    ///
    /// The handler runs on the engine's tasks and should return soon.
    public func setLogHandler(_ handler: (@Sendable (SyncLogLine) -> Void)?) { log.set(handler) }
}
