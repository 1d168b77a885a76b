#if CommandLine
    import BSONStore
    import Foundation
    import StitchSync

    /// The ways in which commands open a store.
    enum StoreOpening {
        /// Opens an existing store.
        static func existing(_ path: String) throws -> DocumentStore {
            // Opened for reading first, so that a missing file is not created.
            try opened(path, readOnly: true).close()
            do {
                return try DocumentStore(at: .file(path))
            } catch {
                let advice =
                    error.code == .readOnly
                    ? "; copy it, with the files next to it, to a writable folder" : ""
                throw CommandError(
                    "\(path) cannot be opened: \(error.message) (\(error.code))\(advice)")
            }
        }

        /// Opens a store without writing anything, also on a full or read-only disk.
        static func inspecting(at path: String) throws -> DocumentStore {
            try opened(path, .inspecting)
        }

        /// Opens a store; errors name the file.
        static func opened(_ path: String, readOnly: Bool) throws -> DocumentStore {
            try opened(path, .init(readOnly: readOnly))
        }

        private static func opened(_ path: String, _ options: DocumentStore.Options) throws
            -> DocumentStore
        {
            guard !SessionRemote.isServer(path) else {
                throw CommandError(
                    "\(path) is a server, and this command needs a store's file; on a server "
                        + "work status, ls, find, count, aggregate, explain, watch, trace, stats, "
                        + "verify, insert, update, delete, index, drop, import, export and shell")
            }
            if options.readOnly, !FileManager.default.fileExists(atPath: path) {
                throw CommandError("\(path): there is no such file\(MissingFile(path).advice)")
            }
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
                isFolder.boolValue
            {
                throw CommandError("\(path) is a folder; name the store's file in it")
            }
            if options.readOnly, !FileManager.default.isReadableFile(atPath: path) {
                throw CommandError(
                    "\(path) cannot be read by this user; change its permissions, or run as its "
                        + "owner")
            }
            do {
                return try DocumentStore(at: .file(path), options: options)
            } catch {
                throw CommandError("\(path) cannot be opened: \(error.message) (\(error.code))")
            }
        }
    }
#endif
