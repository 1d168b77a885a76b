internal import BSONStore

/// What a command does with a cursor.
enum CursorUse: Sendable, Hashable {
    case none
    /// Its reply may leave a cursor open.
    case opens
    /// It reads the next batch of a cursor.
    case continues
    /// It ends cursors.
    case closes
}
