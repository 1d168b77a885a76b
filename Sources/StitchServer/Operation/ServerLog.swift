internal import BSONStore

/// The log of a server; the program that starts the server decides where it is written.
package struct ServerLog: Sendable {
    /// The severity of a line.
    package enum Level: Sendable, Hashable {
        /// Single connections.
        case debug
        /// Sign-ins and denied writes.
        case info
        /// Start and stop.
        case notice
        /// Refused connections and sign-ins, slow commands.
        case warning
    }

    /// Commands that take longer are logged.
    static let slow: Duration = .seconds(1)

    /// A log that discards everything.
    package static let silent = ServerLog { _, _ in }

    /// Writes one line; may be called from any thread.
    package let write: @Sendable (Level, String) -> Void

    /// Sends every line to a closure.
    package init(_ write: @escaping @Sendable (Level, String) -> Void) { self.write = write }
}
