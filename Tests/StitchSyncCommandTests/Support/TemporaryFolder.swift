import Foundation

@testable import StitchSyncCommand

/// Lends a test a folder of its own and removes it afterwards.
func withTemporaryFolder<R>(_ body: (TemporaryFolder) async throws -> R) async throws -> R {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let result: Result<R, any Error>
    do { result = .success(try await body(folder)) } catch { result = .failure(error) }
    try FileManager.default.removeItem(at: folder.url)
    return try result.get()
}

/// Holds the place of a test's files.
struct TemporaryFolder: Sendable {
    /// Where it lies.
    let url = FileManager.default.temporaryDirectory.appending(path: "stitchsync-\(UUID())")

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Makes a folder in it, and those on the way.
    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(
            at: url.appending(path: name), withIntermediateDirectories: true)
    }

    /// Writes a file and returns its path.
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: url.appending(path: name))
        return path(name)
    }

    /// Writes a file of lines and returns its path.
    func write(lines: [String], to name: String) throws -> String {
        try write(Array(lines.map { $0 + "\n" }.joined().utf8), to: name)
    }
}

extension TemporaryFolder {
    /// Lends a file that is open for writing, and returns what was written to it.
    func writing(
        _ name: String, _ body: (Descriptor) throws(CommandError) -> Void
    ) throws -> String {
        let url = url.appending(path: name)
        try Data().write(to: url)
        let handle = try FileHandle(forWritingTo: url)
        try body(Descriptor(number: handle.fileDescriptor))
        try handle.close()
        return try String(contentsOf: url, encoding: .utf8)
    }
}
