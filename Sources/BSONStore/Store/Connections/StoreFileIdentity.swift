/// Remembers which file a store has opened, so that no other one at its path is taken for it.
///
/// SQLite finds the log by the path: a connection that is opened once another file lies there would read
/// and write that file by the log of this one.
final class StoreFileIdentity: Sendable {
    private struct State: Sendable {
        var file: StoreFile.Status?
        var fault: StoreError?
    }

    private let path: String
    private let state: Locked<State>

    /// Notes which file lies at the path now.
    init(_ path: String) {
        self.path = path
        state = Locked(State(file: StoreFile.status(path)))
    }

    /// Looks at the path, which costs one system call; what was found wrong once stays so.
    ///
    /// - Parameter connection: reads the file's own header where it became shorter.
    /// - Returns: why the store must end.
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
            // Another process that compacts makes a whole file that is shorter.
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

extension DocumentStore {
    /// Ends the store when its file is not the one that was opened, or was cut.
    ///
    /// - Throws: `cannotOpen` or `corrupt`, naming the file and the way out.
    func checkPlace(of connection: SQLiteConnection?) throws(StoreError) {
        guard let fault = place?.fault(connection) else { return }
        readers.forget()
        commitWatch.forget()
        throw fault
    }

    /// Lets the writer go of a file that is not to be touched any more.
    ///
    /// The log at the path belongs to the file that was opened. Where that one was only replaced, its log
    /// goes into it now, by the descriptors that are open, so that the new file is not read by it.
    func abandon(_ connection: SQLiteConnection, _ fault: StoreError) {
        if !isReadOnly { connection.abandon(emptyingLog: fault.code == .cannotOpen) }
        writer.withLock { $0.connection = nil }
    }
}
