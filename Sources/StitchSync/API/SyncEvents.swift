internal import BSONStore

/// Gives a collection's changes in order, after they are stored.
///
/// Each iterator reads from the store at its own pace, so that a slow one costs disk, not memory.
/// Changes that no listener and no iterator was done with are given again after a restart.
public struct SyncEvents<Document: Sendable>: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = ChangeEvent<Document>

    let delivery: EventDelivery
    let namespace: Namespace
    let coding: DocumentCoding<Document>

    /// Begins to listen.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(place: Place(delivery, namespace), coding: coding)
    }

    /// Steps through the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let place: Place
        let coding: DocumentCoding<Document>
        private var events: ArraySlice<ChangeEvent<BSONDocument>> = []
        private var last: Int64?

        fileprivate init(place: Place, coding: DocumentCoding<Document>) {
            self.place = place
            self.coding = coding
        }

        /// The next change, when there is one; `nil` once the task is cancelled or the engine was
        /// closed.
        ///
        /// - Throws: `StoreError` when the store cannot be read.
        public mutating func next() async throws -> ChangeEvent<Document>? {
            if let last { place.receiver.advance(to: last) }
            while !Task.isCancelled, !place.delivery.isClosed {
                while let event = events.popFirst() {
                    last = event.sequence
                    if let typed = event.typed(coding, place.delivery) { return typed }
                    place.receiver.advance(to: event.sequence)
                }
                if last != nil { try await place.delivery.removeDelivered(in: place.namespace) }
                last = nil
                let seen = place.delivery.news.count
                events = try place.delivery.events(
                    after: place.receiver.position, in: place.namespace)[...]
                if events.isEmpty { await place.delivery.news.wait(after: seen) }
            }
            return nil
        }
    }

    /// The iterator's receiver, which is removed with it.
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
