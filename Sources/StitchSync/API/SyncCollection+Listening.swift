public import BSONStore

// MARK: - Configuration

extension SyncCollection {
    /// Sets the collection's handlers and policies; the app calls this after each start.
    ///
    /// They live in memory only, and each call replaces all of them. Without a conflict handler,
    /// conflicts wait.
    ///
    /// - Parameters:
    ///   - conflictHandler: resolves conflicts.
    ///   - changeEventListener: receives every change in order, after it is stored. After a crash
    ///     it receives a change again unless it had returned.
    ///   - errorListener: receives errors, with the document's id where there is one.
    ///   - syncFrequency: when ``SyncEngine/run()`` syncs the collection.
    ///   - rejectionPolicy: the treatment of changes that the remote refuses.
    ///   - strictWrites: the check that throws at the call when a write is certain to be refused.
    ///   - droppedCollectionPolicy: the treatment of documents whose collection the remote dropped.
    ///   - unexplainedAbsence: the treatment of documents that are missing at the remote without
    ///     evidence of a delete.
    ///   - attachments: which files beside the documents are loaded without being asked for.
    ///   - sharesConflicts: how the conflicts that the handler meets are sent to the server; `nil` sends
    ///     none.
    public func configure(
        conflictHandler: ConflictHandler<Document>? = nil,
        changeEventListener: (@Sendable (ChangeEvent<Document>) async -> Void)? = nil,
        errorListener: (@Sendable (SyncError, BSONValue?) async -> Void)? = nil,
        syncFrequency: SyncFrequency = .reactive,
        rejectionPolicy: RejectionPolicy<Document> = .standard,
        strictWrites: StrictWrites? = nil,
        droppedCollectionPolicy: DroppedCollectionPolicy = .pause,
        unexplainedAbsence: UnexplainedAbsencePolicy = .keep,
        attachments: AttachmentPolicy = .whenAsked,
        sharesConflicts: ConflictSharing? = nil
    ) async {
        let configuration = CollectionConfiguration(
            conflictHandler: conflictHandler.map(coding.untyped), frequency: syncFrequency,
            rejection: coding.untyped(rejectionPolicy), strict: strictWrites,
            dropped: droppedCollectionPolicy, unexplained: unexplainedAbsence,
            sharing: sharesConflicts, isSet: true)
        configuration.retriesUndecodable.withLock { $0 = conflictHandler != nil }
        engine.state.withLock { $0.configurations[namespace] = configuration }
        engine.files.configure(namespace, attachments)
        engine.delivery.configure(namespace, changeEventListener.map(untyped))
        var tell: (@Sendable (SyncError) async -> Void)?
        if let errorListener { tell = { await errorListener($0, $0.documentID) } }
        engine.delivery.configureErrors(namespace, tell)
        if tell != nil { engine.delivery.reportStoredRejections(in: namespace) }
        engine.passes.notify()
        engine.wake()
    }

    /// Changes when ``SyncEngine/run()`` syncs the collection; the rest of the configuration stays.
    public func updateSyncFrequency(_ frequency: SyncFrequency) async {
        engine.state.withLock { state in
            state.configurations[namespace, default: CollectionConfiguration()].frequency =
                frequency
        }
        engine.passes.notify()
        engine.wake()
    }
}

// MARK: - Listeners

extension SyncCollection {
    /// Adds a listener of the collection's changes to the configured one.
    ///
    /// Each listener receives every change at its own pace. The new one begins with the oldest
    /// change that some listener has not received yet.
    ///
    /// - Returns: the registration that ends the listener; deallocating it does not.
    @discardableResult
    public func addChangeEventListener(
        _ listener: @escaping @Sendable (ChangeEvent<Document>) async -> Void
    ) -> ListenerRegistration {
        let receiver = EventListenerQueue(namespace, untyped(listener))
        let delivery = engine.delivery
        delivery.add(receiver)
        return ListenerRegistration { delivery.remove(receiver) }
    }

    /// The collection's changes in order, for `for try await`.
    ///
    /// Each iterator is a listener. A change counts as delivered when the iterator requests the
    /// next one. The sequence ends when its task is cancelled.
    public var events: SyncEvents<Document> {
        SyncEvents(delivery: engine.delivery, namespace: namespace, coding: coding)
    }

    /// The collection's errors from now on; the stream buffers the newest thousand.
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

extension ChangeEvent<BSONDocument> {
    /// Returns the event with the app's type; reports and skips an event that does not decode.
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
