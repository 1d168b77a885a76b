package import BSONStore

/// The collections of a server that were asked for, each made once.
package final class MongoCollections: Sendable {
    private let server: any MongoServer
    private let made = Locked<[Namespace: MongoCollection]>([:])

    package init(server: any MongoServer) { self.server = server }

    /// Returns the collection of a namespace, without I/O.
    package func collection(_ namespace: Namespace) -> MongoCollection {
        made.withLock { made in
            if let known = made[namespace] { return known }
            let new = MongoCollection(server: server, namespace: namespace)
            made[namespace] = new
            return new
        }
    }

    /// Closes the change streams of all collections, before the server is closed.
    package func closeStreams() {
        for collection in made.withLock({ Array($0.values) }) { collection.closeStreams() }
    }
}
