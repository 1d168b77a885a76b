import Foundation

/// Takes every road of a user at n, 2n, 4n and 8n in what it grows with, and fails where the exponent of
/// its processor time is above 1.25 and no reason is given: `[--short] [--list] [road=TEXT]`.
@main struct Sweep {
    static func main() async throws {
        let settings = try SweepSettings(CommandLine.arguments.dropFirst())
        let servers = SweptServers()
        let roads = Roads.all(servers).filter { settings.wants($0) }
        guard !settings.lists else {
            for road in roads { tell("\(road.name)\t\(road.growth.rawValue)") }
            return
        }
        var report = SweepReport(widest: roads.map(\.name.count).max() ?? 0)
        tell(report.head)
        for road in roads {
            let row = await SweepRow.measure(road, settings.effort) { servers.processIDs }
            tell(report.add(row))
        }
        servers.end()
        tell(report.summary)
        exit(report.failures.isEmpty && !roads.isEmpty ? 0 : 1)
    }

    /// Writes a line at once, also into a file.
    private static func tell(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
