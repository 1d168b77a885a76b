public import BSONStore

/// A log line of the engine; it never contains a document's content.
///
/// ```swift
/// engine.setLogHandler { line in
///     print(line.level, line.namespace, line.text)
/// }
/// ```
public struct SyncLogLine: Sendable, Hashable, CustomStringConvertible {
    /// The severity of a line.
    ///
    /// ```swift
    /// engine.setLogHandler { line in
    ///     if line.level == .warning { print(line) }
    /// }
    /// ```
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Details for debugging.
        case info
        /// The engine could not do what the app wanted.
        case warning
    }

    /// The severity of a line.
    public let level: Level
    /// The collection concerned.
    public let namespace: Namespace
    /// The text of the line.
    public let text: String

    /// The same as ``text``.
    public var description: String { text }
}
