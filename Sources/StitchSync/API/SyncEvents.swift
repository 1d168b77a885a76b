internal import BSONStore

/// A collection's stored changes, in order.
///
/// Each iterator reads from the store at its own pace, so that a slow one costs disk, not memory.
/// After a restart, changes that were not fully delivered are delivered again.
///
/// ```swift
/// for try await event in todos.events {
///     print(event.operationType, event.documentID)
/// }
/// ```
public struct SyncEvents<Document: Sendable>: AsyncSequence, Sendable {
    /// A change of a document.
    ///
    /// ```swift
    /// func show(_ change: SyncEvents<Todo>.Element) {
    ///     print(change.operationType, change.fullDocument?.task ?? "no document")
    /// }
    /// ```
    public typealias Element = ChangeEvent<Document>

    let delivery: EventDelivery
    let namespace: Namespace
    let coding: DocumentCoding<Document>

    /// Returns a new listener.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(place: Place(delivery, namespace), coding: coding)
    }

    /// An iterator over a collection's changes.
    ///
    /// ```swift
    /// var changes = todos.events.makeAsyncIterator()
    /// let first = try await changes.next()
    /// ```
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let place: Place
        let coding: DocumentCoding<Document>
        private var events: ArraySlice<ChangeEvent<BSONDocument>> = []
        private var last: Int64?

        fileprivate init(place: Place, coding: DocumentCoding<Document>) {
            self.place = place
            self.coding = coding
        }

        /// Waits for the next change; returns `nil` once the task is cancelled or the engine is
        /// closed.
        ///
        /// - Throws: `StoreError` when the store cannot be read.
        public mutating func next() async throws -> ChangeEvent<Document>? {
            if let last { place.receiver.advance(to: last) }
            while !Task.isCancelled, !place.delivery.endsIterators {
                while let event = events.popFirst() {
                    last = event.sequence
                    if let typed = event.typed(coding, place.delivery) { return typed }
                    place.receiver.advance(to: event.sequence)
                }
                if last != nil { place.delivery.noteHandled(in: place.namespace) }
                last = nil
                let seen = place.delivery.news.count
                events = try place.delivery.events(
                    after: place.receiver.position, in: place.namespace)[...]
                if events.isEmpty { await place.delivery.news.wait(after: seen) }
            }
            return nil
        }
    }

    /// The iterator's registration; deallocating it removes the receiver.
    fileprivate final class Place: Sendable {
        let delivery: EventDelivery
        let namespace: Namespace
        let receiver: EventListenerQueue

        init(_ delivery: EventDelivery, _ namespace: Namespace) {
            self.delivery = delivery
            self.namespace = namespace
            receiver = EventListenerQueue(namespace, nil)
            delivery.add(receiver)
        }

        deinit { delivery.remove(receiver) }
    }
}
