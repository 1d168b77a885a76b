internal import BSONStore

/// The use of a cursor by a command.
enum CursorUse: Sendable, Hashable {
    case none
    /// Its reply may leave a cursor open.
    case opens
    /// It reads the next batch of a cursor.
    case continues
    /// It ends cursors.
    case closes
}
