import Foundation
import TestProcesses
import Testing

/// A directory for one test; it is gone when the value is.
final class ScratchDirectory {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "stitchsync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try removeFolder(atPath: url.path)
        } catch {
            Issue.record("the directory of a test stays behind: \(error)")
        }
    }

    func path(_ name: String) -> String { url.appending(path: name).path }
}
