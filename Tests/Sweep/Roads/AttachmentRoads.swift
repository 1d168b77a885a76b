import BSONStore
import StitchSync

/// Files beside documents: by their number, and by their size.
enum AttachmentRoads {
    /// The roads.
    static var all: [Road] {
        [
            road("upload of files", .documents, from: 50, upTo: 800) { ($0, 1_000) },
            road("upload of a large file", .bytes, from: 250_000, upTo: 4_000_000) { (1, $0) },
        ]
    }

    private static func road(
        _ name: String, _ growth: Road.Growth, from: Int, upTo: Int,
        _ files: @escaping (Int) -> (count: Int, bytes: Int)
    ) -> Road {
        Road(once: "attachment: \(name)", growth, from: from, upTo: upTo) { n in
            let (count, bytes) = files(n)
            let device = try await SyncRoads.inStep(count)
            for number in 0..<count {
                let content = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
                try await device.items.attach(content, to: .int(number), at: "photo")
            }
            try await device.sync()
            return Trip(end: { try await device.end(count: count) }) {
                let report = try await device.engine.attachments.transfer()
                guard report.sent == count else { throw SweptFailure("\(report)") }
            }
        }
    }
}
