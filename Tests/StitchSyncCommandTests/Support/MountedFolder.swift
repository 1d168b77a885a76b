#if os(Linux)
    import Foundation
    import TestProcesses

    /// A file system in memory, mounted for a test, which can be made full or for reading only.
    struct MountedFolder: Sendable {
        /// Whether this process may mount; in most containers it may not.
        static let isAllowed: Bool = {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "stitchsync-\(UUID())")
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true)
                defer { rmdir(folder.path) }
                guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
                return umount(folder.path) == 0
            } catch {
                return false
            }
        }()

        /// Where it is mounted.
        let path: String

        /// Mounts one, lends it and takes it away.
        static func lend(
            _ body: (MountedFolder) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                let path = folder.path("mounted")
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
                guard mount("tmpfs", path, "tmpfs", 0, "size=48m") == 0 else {
                    throw ProgramFailure(reason: "mount: \(errno)")
                }
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(MountedFolder(path: path)))
                } catch {
                    result = .failure(error)
                }
                guard umount2(path, Int32(MNT_DETACH)) == 0 else {
                    throw ProgramFailure(reason: "umount: \(errno)")
                }
                try result.get()
            }
        }

        /// Lets nobody write any more.
        ///
        /// The child of another test holds all open files for a moment, between its fork and its program:
        /// the system refuses until that has passed.
        func makeReadOnly() throws {
            let flags = UInt(MS_REMOUNT | MS_RDONLY)
            for _ in 0..<500 {
                if mount("tmpfs", path, "tmpfs", flags, nil) == 0 { return }
                guard errno == EBUSY else { break }
                _ = poll(nil, 0, 10)
            }
            throw ProgramFailure(reason: "remount: \(errno)")
        }

        /// Writes a file until there is no room left.
        func fill() throws {
            let descriptor = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw ProgramFailure(reason: "open: \(errno)") }
            defer { close(descriptor) }
            let block = [UInt8](repeating: 1, count: 4_096)
            while write(descriptor, block, block.count) > 0 {}
            guard errno == ENOSPC else { throw ProgramFailure(reason: "write: \(errno)") }
        }
    }
#endif
