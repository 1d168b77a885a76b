import BSONStore
import Foundation

/// Names the files of a demo in its folder.
struct DemoFiles: Sendable {
    /// The folder.
    let folder: String

    /// The collection that the demo is about.
    static let namespace = Namespace("workshop", "documents")

    /// The remote's store.
    var remote: String { folder + "/remote.stitch" }
    /// What both devices do offline: the documents' ids, in the order of the plan.
    var plan: String { folder + "/plan.jsonl" }

    /// A device's store.
    func store(of device: DemoPlan.Device) -> String {
        "\(folder)/\(device.rawValue.lowercased()).stitch"
    }

    /// Makes the folder, and removes what an earlier demo left in it, and nothing else.
    func makeEmpty() throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let stores = DemoPlan.Device.allCases.map(store) + [remote]
        for file in stores.flatMap({ [$0, $0 + "-wal", $0 + "-shm"] }) + [plan]
        where manager.fileExists(atPath: file) {
            try manager.removeItem(atPath: file)
        }
    }
}
