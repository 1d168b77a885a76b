public import BSONStore

// MARK: - Configuration

extension SyncCollection {
    /// Sets the app's closures; they live in memory and are set anew after each start.
    ///
    /// Setting them again replaces all of them. Without a conflict handler conflicts wait.
    ///
    /// - Parameters:
    ///   - conflictHandler: answers conflicts.
    ///   - changeEventListener: is told of every change, in order, after it is stored. A change is
    ///     told again after a crash that came before the listener returned.
    ///   - errorListener: is told of errors, with the document's id where there is one.
    ///   - syncFrequency: when ``SyncEngine/run()`` syncs the collection.
    ///   - rejectionPolicy: what becomes of changes that the remote refuses.
    ///   - strictWrites: refuses writes at the call that are certainly not allowed.
    ///   - droppedCollectionPolicy: what becomes of documents whose collection the remote dropped.
    ///   - unexplainedAbsence: what becomes of documents that are missing at the remote without
    ///     evidence that somebody deleted them.
    public func configure(
        conflictHandler: ConflictHandler<Document>? = nil,
        changeEventListener: (@Sendable (ChangeEvent<Document>) async -> Void)? = nil,
        errorListener: (@Sendable (SyncError, BSONValue?) async -> Void)? = nil,
        syncFrequency: SyncFrequency = .reactive,
        rejectionPolicy: RejectionPolicy<Document> = .standard,
        strictWrites: StrictWrites? = nil,
        droppedCollectionPolicy: DroppedCollectionPolicy = .pause,
        unexplainedAbsence: UnexplainedAbsencePolicy = .keep
    ) async {
        let configuration = CollectionConfiguration(
            conflictHandler: conflictHandler.map(untyped), frequency: syncFrequency,
            rejection: coding.untyped(rejectionPolicy), strict: strictWrites,
            dropped: droppedCollectionPolicy, unexplained: unexplainedAbsence, isSet: true)
        engine.state.withLock { $0.configurations[namespace] = configuration }
        engine.delivery.configure(namespace, changeEventListener.map(untyped))
        var tell: (@Sendable (SyncError) async -> Void)?
        if let errorListener { tell = { await errorListener($0, $0.documentID) } }
        engine.delivery.configureErrors(namespace, tell)
        if tell != nil { engine.delivery.reportStoredRejections(in: namespace) }
        engine.passes.notify()
        engine.wake()
    }

    /// Changes when ``SyncEngine/run()`` syncs the collection, and nothing else of its configuration.
    public func updateSyncFrequency(_ frequency: SyncFrequency) async {
        engine.state.withLock { state in
            state.configurations[namespace, default: CollectionConfiguration()].frequency =
                frequency
        }
        engine.passes.notify()
        engine.wake()
    }

    private func untyped(_ handler: ConflictHandler<Document>) -> ConflictHandler<BSONDocument> {
        let coding = coding
        let untyped: ConflictHandler<BSONDocument>
        if let rule = handler.ruleAtOnce {
            untyped = ConflictHandler(immediate: { conflict in
                try coding.untyped(rule(coding.typed(conflict)), of: conflict)
            })
        } else {
            untyped = ConflictHandler { conflict in
                try coding.untyped(await handler.rule(coding.typed(conflict)), of: conflict)
            }
        }
        let answer: ConflictHandler<BSONDocument>.FixedResolution? =
            switch handler.sameAnswer {
            case .remote: .remote
            case .local: .local
            case nil: nil
            }
        let asking = handler.raw.map(untyped.after) ?? untyped
        return (handler.refine.map(asking.refined) ?? asking).answering(answer)
            .counting(by: handler.counting)
    }
}

extension DocumentCoding {
    fileprivate func typed(_ conflict: Conflict<BSONDocument>) throws -> Conflict<Document> {
        Conflict(
            namespace: conflict.namespace, documentID: conflict.documentID,
            base: try conflict.base.map(decode), local: try conflict.local.map(decode),
            remote: try conflict.remote.map(decode), mayHaveLanded: conflict.mayHaveLanded)
    }

    fileprivate func untyped(
        _ answer: ConflictResolution<Document>, of conflict: Conflict<BSONDocument>
    ) throws -> ConflictResolution<BSONDocument> {
        switch answer {
        case .useLocal: .useLocal
        case .useRemote: .useRemote
        case .delete: .delete
        case .use(let document):
            .use(try encode(document, conflict.remote ?? conflict.local ?? conflict.base))
        }
    }
}

// MARK: - Listeners

extension SyncCollection {
    /// Adds a listener beside the configured one; each is told of every change, at its own pace.
    ///
    /// It begins with the oldest change that not everybody has been told of.
    ///
    /// - Returns: what ends the listening; letting go of it does not.
    @discardableResult
    public func addChangeEventListener(
        _ listener: @escaping @Sendable (ChangeEvent<Document>) async -> Void
    ) -> ListenerRegistration {
        let receiver = EventListenerQueue(namespace, untyped(listener))
        let delivery = engine.delivery
        delivery.add(receiver)
        return ListenerRegistration { delivery.remove(receiver) }
    }

    /// Adds a listener of the collection's errors beside the configured one; each is told at its own
    /// pace, of a refused write once all are done with those before.
    ///
    /// - Returns: what ends the listening; letting go of it does not.
    @discardableResult
    public func addErrorListener(
        _ listener: @escaping @Sendable (SyncError) async -> Void
    ) -> ListenerRegistration {
        engine.addErrorListener(in: namespace, listener)
    }

    /// The collection's changes, one after another, for `for await`.
    ///
    /// Every iterator is a listener of its own. A change counts as delivered when the next one is
    /// asked for. The sequence ends when its task is cancelled.
    public var events: SyncEvents<Document> {
        SyncEvents(delivery: engine.delivery, namespace: namespace, coding: coding)
    }

    /// The collection's errors from now on; the oldest of over a thousand that wait are dropped.
    public var errors: AsyncStream<SyncError> { engine.errors(in: namespace) }

    private func untyped(
        _ listener: @escaping @Sendable (ChangeEvent<Document>) async -> Void
    ) -> EventListenerQueue.Listener {
        let coding = coding
        return { [weak delivery = engine.delivery] event in
            if let typed = event.typed(coding, delivery) { await listener(typed) }
        }
    }
}

extension SyncEngine {
    /// Adds a listener of all collections' errors.
    ///
    /// - Returns: what ends the listening; letting go of it does not.
    @discardableResult
    public func addErrorListener(
        _ listener: @escaping @Sendable (SyncError) async -> Void
    ) -> ListenerRegistration {
        addErrorListener(in: nil, listener)
    }

    /// All collections' errors from now on; the oldest of over a thousand that wait are dropped.
    public var errors: AsyncStream<SyncError> { errors(in: nil) }

    func addErrorListener(
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
}

extension ChangeEvent<BSONDocument> {
    /// The event with the app's type; an event that cannot be read is reported and left out.
    func typed<Typed>(
        _ coding: DocumentCoding<Typed>, _ delivery: EventDelivery?
    ) -> ChangeEvent<Typed>? {
        do {
            return ChangeEvent<Typed>(
                sequence: sequence, operationType: operationType, reason: reason,
                namespace: namespace, documentID: documentID,
                fullDocument: try fullDocument.map(coding.decode),
                updateDescription: updateDescription, hasUncommittedWrites: hasUncommittedWrites)
        } catch {
            delivery?.report([
                SyncError(
                    .decodingFailed, "an event's document cannot be read: \(error)",
                    namespace: namespace, documentID: documentID, underlying: error)
            ])
            return nil
        }
    }
}
