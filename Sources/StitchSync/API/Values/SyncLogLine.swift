public import BSONStore

/// Is a line about what the engine does, for people; no document's content is ever in one.
public struct SyncLogLine: Sendable, Hashable, CustomStringConvertible {
    /// How much it matters.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Worth a look when something is looked for.
        case info
        /// Something was not done as the app wanted.
        case warning
    }

    /// How much it matters.
    public let level: Level
    /// The collection.
    public let namespace: Namespace
    /// The line.
    public let text: String

    /// The text.
    public var description: String { text }
}
