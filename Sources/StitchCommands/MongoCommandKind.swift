/// The way in which a command is repeated when the connection fails.
package enum MongoCommandKind: Sendable, Hashable {
    /// Repeated once (the drivers' specification "Retryable Reads").
    case read
    /// Repeated once with the same transaction number ("Retryable Writes").
    case write
}
