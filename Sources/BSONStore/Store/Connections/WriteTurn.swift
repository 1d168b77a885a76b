/// A way to write among other writers that wait.
///
/// A write that does not wait for its turn waits for the store's lock alone, which a transaction of
/// several commands may keep for long.
package struct WriteTurn: Sendable {
    private let take: @Sendable (_ write: () throws -> Void) throws -> Void

    /// - Parameter take: waits for the turn, and then calls the write once.
    package init(_ take: @escaping @Sendable (_ write: () throws -> Void) throws -> Void) {
        self.take = take
    }

    /// The turn where no transactions are kept open.
    package static let atOnce = WriteTurn { try $0() }

    /// Runs a body in a write transaction of a store, when it is its turn.
    ///
    /// - Throws: the errors of waiting and of the store, and the body's error.
    package func write<R>(
        _ store: DocumentStore, _ body: (WriteTransaction) throws -> R
    ) throws -> R {
        var written: R?
        try take { written = try store.write(body) }
        guard let result = written else {
            throw StoreError(.internalError, "a turn to write ended without the write")
        }
        return result
    }
}
