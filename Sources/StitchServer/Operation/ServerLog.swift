/// Is told what a server does; where it goes is up to who starts the server.
package struct ServerLog: Sendable {
    /// How much something matters.
    package enum Level: Sendable, Hashable {
        /// Each connection.
        case debug
        /// Who signs in.
        case info
        /// Starts and stops.
        case notice
        /// What was refused, and what took long.
        case warning
    }

    /// Commands that take longer are told of.
    static let slow: Duration = .seconds(1)

    /// Tells nobody.
    package static let silent = ServerLog { _, _ in }

    /// Takes a sentence; called from any thread.
    package let write: @Sendable (Level, String) -> Void

    /// Sends everything to a closure.
    package init(_ write: @escaping @Sendable (Level, String) -> Void) { self.write = write }
}
