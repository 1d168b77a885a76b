/// The identity of the opened file, which prevents use of another file at the same path.
///
/// SQLite finds the log by the path: a connection opened after the file was replaced would read and
/// write the new file with the old one's log.
final class StoreFileIdentity: Sendable {
    private struct State: Sendable {
        var file: StoreFile.Status?
        /// The log at the path; `nil` until a write reads it.
        var log: StoreFile.Status?
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
            if state.fault != nil { return state.fault }
            guard let found = look(&state.file, connection) else { return nil }
            state.fault = found
            return found
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

    /// Checks that the log still has all committed changes; a fault is permanent once found.
    ///
    /// A write behind a cut would be lost with the log's next reader, which ends at the cut.
    ///
    /// - Parameter connection: the one that writes at present, so that no other one changes the log.
    /// - Returns: the reason why the store must end.
    func logFault(_ connection: SQLiteConnection) -> StoreError? {
        state.withLock { state in
            if state.fault != nil { return state.fault }
            guard let found = lookAtLog(&state.log, connection) else { return nil }
            state.fault = found
            return found
        }
    }

    private func lookAtLog(
        _ log: inout StoreFile.Status?, _ connection: SQLiteConnection
    ) -> StoreError? {
        guard let extent = connection.logExtent, extent.bytes > 0 else { return nil }
        let (known, now) = (log, connection.withLogPath { StoreFile.status($0) } ?? nil)
        log = now
        guard let now, known.map({ now.isSameFile(as: $0) }) ?? true else {
            return StoreError(
                .corrupt,
                "\(path)-wal was moved, deleted or replaced while \(path) was open. Nothing is read "
                    + "or written any more; put a backup back, or run `verify`")
        }
        guard let onDisk = connection.logOnDisk, onDisk.bytes >= extent.bytes,
            now.size >= extent.bytes, onDisk.salt == extent.salt
        else {
            return StoreError(
                .corrupt,
                "\(path)-wal was cut or overwritten while \(path) was open: it has \(now.size) "
                    + "bytes, and \(extent.bytes) were written. Nothing is read or written any more; "
                    + "put a backup back, or run `verify`")
        }
        return nil
    }

    /// Forgets the log, because the store has closed its connections to it.
    func forgetLog() { state.withLock { $0.log = nil } }
}
