/// The identity of the opened file, which prevents use of another file at the same path.
///
/// SQLite finds the log by the path: a connection opened after the file was replaced would read and
/// write the new file with the old one's log.
final class StoreFileIdentity: Sendable {
    private struct State: Sendable {
        var file: StoreFile.Status?
        var fault: StoreError?
    }

    private let path: String
    private let state: Locked<State>

    /// Records which file is at the path now.
    init(_ path: String) {
        self.path = path
        state = Locked(State(file: StoreFile.status(path)))
    }

    /// Checks the path with one system call; a fault is permanent once found.
    ///
    /// - Parameter connection: reads the file's own header if the file became shorter.
    /// - Returns: the reason why the store must end.
    func fault(_ connection: SQLiteConnection?) -> StoreError? {
        state.withLock { state in
            if let fault = state.fault { return fault }
            state.fault = look(&state.file, connection)
            return state.fault
        }
    }

    private func look(
        _ file: inout StoreFile.Status?, _ connection: SQLiteConnection?
    ) -> StoreError? {
        guard let now = StoreFile.status(path) else {
            return StoreError(
                .cannotOpen,
                "\(path) was moved or deleted while it was open. Nothing is read or written any more; "
                    + "put the file back, and open the store again")
        }
        guard let known = file else {
            file = now
            return nil
        }
        guard now.isSameFile(as: known) else {
            return StoreError(
                .cannotOpen,
                "\(path) was replaced while it was open: another file lies there. Nothing is read or "
                    + "written any more; close the store, and open it again to use the new file")
        }
        if now.size < known.size {
            // Another process that compacts the file makes it shorter but complete.
            let wanted = connection.map { $0.sizeByHeader } ?? (now.size == 0 ? .max : nil)
            if let wanted, now.size < wanted {
                return StoreError(
                    .corrupt,
                    "\(path) was cut from \(known.size) to \(now.size) bytes while it was open. "
                        + "Nothing is read or written any more; put a backup back, or run `verify`")
            }
            if connection == nil { return nil }
        }
        file = now
        return nil
    }
}
