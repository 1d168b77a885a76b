import Foundation

/// Reads the text files of the repository, and says which paths exist.
struct SourceTree: Sendable {
    /// The files that the rules look at.
    let files: [SourceFile]
    /// Every path of the repository from its root, folders without a final `/`.
    let paths: Set<String>

    /// The repository that this source file lies in, read once.
    static let ofRepository = Result { try SourceTree() }

    /// A made-up tree of one file, for showing what a rule finds.
    init(sample: SourceFile, paths: Set<String> = []) {
        files = [sample]
        self.paths = paths.union([sample.path])
    }

    /// Reads the repository that this source file lies in.
    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        var files: [SourceFile] = []
        var paths: Set<String> = []
        try Self.walk(root, "", &files, &paths)
        self.files = files
        self.paths = paths
    }

    private static func walk(
        _ root: URL, _ folder: String, _ files: inout [SourceFile], _ paths: inout Set<String>
    ) throws {
        let url = folder.isEmpty ? root : root.appending(path: folder)
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
        where !isLeftOut(name) {
            let path = folder.isEmpty ? name : folder + "/" + name
            paths.insert(path)
            var isFolder: ObjCBool = false
            let full = root.appending(path: path)
            guard FileManager.default.fileExists(atPath: full.path, isDirectory: &isFolder) else {
                continue
            }
            if isFolder.boolValue {
                try walk(root, path, &files, &paths)
            } else if isText(path), !path.hasPrefix("Tests/AppleStubs/") {
                // The stubs have the names and forms of the modules that they stand for.
                files.append(SourceFile(path, try String(contentsOf: full, encoding: .utf8)))
            }
        }
    }

    private static func isLeftOut(_ name: String) -> Bool {
        name == ".git" || name == ".swiftpm" || name == "demo-work" || name == "__pycache__"
            || name.hasPrefix(".build")
    }

    /// Whether the rules look into a file: code, scripts and documents, not data.
    private static func isText(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        let extensions = ["swift", "md", "py", "sh", "h", "c", "modulemap", "yml", "yaml"]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex {
            return extensions.contains(String(name[name.index(after: dot)...]))
        }
        return path.hasPrefix("Scripts/") || path.hasPrefix(".ci/") || name == "Makefile"
            || name == ".gitignore" || name == ".swift-format"
    }
}
