internal import Synchronization

/// Names a statement whose text never changes by a place that each connection keeps it under.
///
/// Each takes a place for ever: for statements that are static constants.
package struct FixedStatement: Sendable {
    private static let places = Atomic<Int>(0)

    let sql: String
    let place: Int

    /// Takes the next place for a text.
    package init(_ sql: String) {
        self.sql = sql
        place = Self.places.add(1, ordering: .relaxed).oldValue
    }
}
