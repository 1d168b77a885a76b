#if CommandLine && Server
    import Foundation

    /// The store file of a server without `--db`; it is removed when the server stops.
    ///
    /// An in-memory store has only one connection, so one client's transaction would block all
    /// others. The next server removes the files of a killed one: a lock in the folder, which ends
    /// with its process, shows whether the folder is in use.
    struct TemporaryStore {
        private static let prefix = "stitchsync-serve-"
        private static let lockName = "lock"

        /// The path of the store's file.
        var path: String { folder.appending(path: "served.stitch").path }

        private let folder: URL
        private let lock: Int32

        /// Creates a folder that only its owner can read.
        init(in parent: URL = FileManager.default.temporaryDirectory) throws {
            Self.removeAbandoned(in: parent)
            folder = parent.appending(path: Self.prefix + UUID().uuidString)
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            // The lock gets its name only once it is held, so no other process takes the folder for
            // abandoned.
            let new = folder.appending(path: "new").path
            lock = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0,
                rename(new, folder.appending(path: Self.lockName).path) == 0
            else {
                let reason = String(cString: strerror(errno))
                throw CommandError("cannot lock the temporary folder \(folder.path): \(reason)")
            }
        }

        /// Removes the folder; the store must be closed.
        func remove() throws {
            try FileManager.default.removeItem(at: folder)
            close(lock)
        }

        private static func removeAbandoned(in parent: URL) {
            let files = FileManager.default
            let names: [String]
            // A folder that cannot be read or removed may belong to another user, and does no harm.
            do { names = try files.contentsOfDirectory(atPath: parent.path) } catch { return }
            for name in names where name.hasPrefix(prefix) {
                let folder = parent.appending(path: name)
                let lock = open(
                    folder.appending(path: lockName).path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
                guard lock >= 0 else { continue }
                defer { close(lock) }
                guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { continue }
                do { try files.removeItem(at: folder) } catch { continue }
            }
        }
    }
#endif
