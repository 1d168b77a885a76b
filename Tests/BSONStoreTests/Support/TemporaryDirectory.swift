import TestProcesses

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes a directory for one test and removes it when the test lets go of it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "bsonstore-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try removeFolder(atPath: path)
        } catch {
            assertionFailure("\(error)")
        }
    }

    func file(_ name: String = "test.store") -> String { path + "/" + name }
}
