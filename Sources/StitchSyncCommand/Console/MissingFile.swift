internal import Foundation

/// A path that names no file.
struct MissingFile: Sendable {
    private let url: URL

    private static let namesMax = 3

    init(_ path: String) { url = URL(filePath: path).standardizedFileURL }

    /// What the user may have meant, to be added to an error: similar names in the folder, or the
    /// nearest folder that exists.
    var advice: String {
        let folder = url.deletingLastPathComponent()
        guard isThere(folder) else {
            var nearest = folder
            while !isThere(nearest), nearest.path != "/" { nearest.deleteLastPathComponent() }
            return "; the folder \(folder.path) does not exist, only \(nearest.path)"
        }
        let names = similarNames(in: folder)
        return names.isEmpty ? "" : "; did you mean \(names.joined(separator: " or "))?"
    }

    private func isThere(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.path)
    }

    private func similarNames(in folder: URL) -> [String] {
        let name = url.lastPathComponent
        let others: [String]
        do {
            others = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            // A folder that cannot be listed gives no advice.
            return []
        }
        return Array(
            others.filter { other in
                // The files that SQLite keeps next to a store.
                !other.hasSuffix("-wal") && !other.hasSuffix("-shm")
                    && (other.hasPrefix("\(name).") || NearestName.distance(name, other) <= 2)
            }.sorted().prefix(Self.namesMax))
    }
}
