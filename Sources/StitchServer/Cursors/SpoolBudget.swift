internal import BSONStore

/// The bounds on temporary files with results that clients have not read, in total and for each
/// user.
final class SpoolBudget: Sendable {
    /// The maximum size of all files in bytes.
    let bytesMax: Int
    /// The maximum number of files.
    let filesMax: Int

    private struct Use: Sendable {
        var bytes = 0
        var files = 0
    }

    private struct State: Sendable {
        var all = Use()
        /// What users and addresses take (``CursorOwner/share``).
        var owners: [[UInt8]: Use] = [:]
    }

    private let state = Locked(State())

    /// Creates a budget of which nothing is taken.
    init(bytesMax: Int, filesMax: Int = SpoolBudget.usualFilesMax) {
        self.bytesMax = bytesMax
        self.filesMax = filesMax
    }

    /// An eighth of the files that the process may open, at least 8 and at most 1,024.
    static var usualFilesMax: Int {
        guard let countMax = OpenFiles.countMax else { return 8 }
        return min(1_024, max(8, countMax / 8))
    }

    /// Takes a number of bytes and files; one user may have half of each.
    ///
    /// - Returns: what is exceeded, if anything: nothing is taken then.
    func take(bytes: Int = 0, files: Int = 0, of owner: CursorOwner) -> String? {
        state.withLock { state in
            var (all, own) = (state.all, state.owners[owner.share] ?? Use())
            all.bytes += bytes
            all.files += files
            own.bytes += bytes
            own.files += files
            if own.bytes > bytesMax / 2 {
                return "the unread results of one user may take \(bytesMax / 2) bytes on disk"
            }
            if all.bytes > bytesMax {
                return "the unread results of all users may take \(bytesMax) bytes on disk"
            }
            if own.files > filesMax / 2 {
                return "one user may have \(filesMax / 2) large unread results"
            }
            if all.files > filesMax {
                return "all users together may have \(filesMax) large unread results"
            }
            state.all = all
            state.owners[owner.share] = own
            return nil
        }
    }

    /// Takes back a file and its bytes, which the user no longer needs.
    func give(bytes: Int, of owner: CursorOwner) {
        state.withLock { state in
            state.all.bytes -= bytes
            state.all.files -= 1
            guard var own = state.owners[owner.share] else { return }
            own.bytes -= bytes
            own.files -= 1
            state.owners[owner.share] = own.files > 0 ? own : nil
        }
    }

    /// The size and number of the files of all users.
    var use: (bytes: Int, files: Int) { state.withLock { ($0.all.bytes, $0.all.files) } }
}
