internal import Synchronization

/// A statement with constant SQL and a fixed slot in each connection's cache.
///
/// Each instance takes a slot for ever: use it only for static constants.
package struct FixedStatement: Sendable {
    private static let places = Atomic<Int>(0)

    let sql: String
    let place: Int

    /// Takes the next slot for a statement.
    package init(_ sql: String) {
        self.sql = sql
        place = Self.places.add(1, ordering: .relaxed).oldValue
    }
}
