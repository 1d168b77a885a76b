package import BSONStore

extension SyncEngine {
    /// Adds a listener of all collections' errors.
    ///
    /// - Returns: the registration that ends the listener; deallocating it does not.
    @discardableResult
    public func addErrorListener(
        _ listener: @escaping @Sendable (SyncError) async -> Void
    ) -> ListenerRegistration {
        addErrorListener(in: nil, listener)
    }

    /// All collections' errors from now on; the stream buffers the newest thousand.
    public var errors: AsyncStream<SyncError> { errors(in: nil) }

    /// Adds a listener of one collection's errors, or of all.
    @discardableResult
    package func addErrorListener(
        in namespace: Namespace?, _ listener: @escaping @Sendable (SyncError) async -> Void
    ) -> ListenerRegistration {
        let delivery = delivery
        let receiver = ErrorListenerQueue(namespace, listener)
        delivery.add(receiver)
        delivery.reportStoredRejections(in: namespace)
        return ListenerRegistration { delivery.remove(receiver) }
    }

    func errors(in namespace: Namespace?) -> AsyncStream<SyncError> {
        let (errors, continuation) = AsyncStream.makeStream(
            of: SyncError.self, bufferingPolicy: .bufferingNewest(EventDelivery.errorsMax))
        let registration = addErrorListener(in: namespace) { continuation.yield($0) }
        continuation.onTermination = { _ in registration.remove() }
        return errors
    }

    /// Sets the handler of log lines about compensating writes; the default, `nil`, drops them.
    ///
    /// The handler runs on the engine's tasks and should return soon.
    public func setLogHandler(_ handler: (@Sendable (SyncLogLine) -> Void)?) { log.set(handler) }
}
