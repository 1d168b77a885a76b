import BSONStore
import Foundation

/// The paths of the demo's files.
struct DemoFiles: Sendable {
    /// The folder.
    let folder: String

    /// The collection of the demo.
    static let namespace = Namespace("workshop", "documents")

    /// The remote's store.
    var remote: String { folder + "/remote.stitch" }
    /// The folder with the rules of the gateways.
    var rules: String { folder + "/rules" }
    /// The plan: the documents' ids in order.
    var plan: String { folder + "/plan.jsonl" }

    /// Returns the path of a device's store.
    func store(of device: DemoPlan.Device) -> String {
        "\(folder)/\(device.rawValue.lowercased()).stitch"
    }

    /// Creates the folder, and removes only the files of an earlier demo from it.
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
