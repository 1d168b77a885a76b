internal import Foundation

/// Removes a folder and what is in it.
///
/// A store that a task still holds may be closed meanwhile, which takes files of its own away.
package func removeFolder(atPath path: String) throws {
    while FileManager.default.fileExists(atPath: path) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch CocoaError.fileNoSuchFile {
            continue
        }
    }
}
