import BSONStore
import Foundation

/// The rules of the tests of users who let themselves in, in a folder of their own.
enum OpenRules {
    /// Users see and write their own notes; those with an account read all.
    private static let text = """
        {
          "database": "app", "collection": "notes",
          "roles": [
            {
              "name": "device", "apply_when": {"%%user.type": "anonymous"},
              "document_filters": {
                "read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}
              },
              "read": true, "write": true
            },
            {
              "name": "member", "apply_when": {"%%user.type": "normal"},
              "document_filters": {"read": true, "write": {"owner": "%%user.id"}},
              "read": true, "write": true
            }
          ]
        }
        """

    /// Lends the path of a folder with the rules.
    ///
    /// - Parameter files: the texts of further files, by their paths in the folder.
    static func lend<R>(
        _ files: [String: String] = [:], _ body: (String) async throws -> R
    ) async throws -> R {
        let root = FileManager.default.temporaryDirectory.appending(path: "stitchopen-\(UUID())")
        let folder = root.appending(path: "data_sources/mongodb-atlas/app/notes")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: "rules.json"))
        for (path, text) in files {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let result: Result<R, any Error>
        do { result = .success(try await body(root.path)) } catch { result = .failure(error) }
        try FileManager.default.removeItem(at: root)
        return try result.get()
    }
}
