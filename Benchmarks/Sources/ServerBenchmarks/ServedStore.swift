import Foundation

/// A process of `stitchsync serve`, over a new file unless its arguments say something else.
final class ServedStore {
    /// Where drivers find it.
    private(set) var address = ""
    private let process = Process()
    private let folder: URL

    init(tool: String, _ arguments: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "stitchbench-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let output = Pipe()
        process.executableURL = URL(filePath: tool)
        let own = ["--db", folder.appending(path: "bench.stitch").path]
        process.arguments = ["serve", "--port", "0"] + (arguments.isEmpty ? own : arguments)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while !line.contains(0x0A) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.executableLoad) }
            line.append(more)
        }
        let said = String(decoding: line, as: UTF8.self).split(separator: ":").last ?? "0"
        address = "mongodb://127.0.0.1:\(said.prefix { $0.isNumber })/"
    }

    /// The memory that the process has now, in MiB; 0 where the system does not tell.
    func memory() throws -> Int {
        let path = "/proc/\(process.processIdentifier)/statm"
        // Files there have no size, so that only reading to the end gives what they hold.
        guard FileManager.default.fileExists(atPath: path),
            let text = try FileHandle(forReadingFrom: URL(filePath: path)).readToEnd()
        else { return 0 }
        let pages = String(decoding: text, as: UTF8.self).split(separator: " ").dropFirst().first
        return (pages.flatMap { Int($0) } ?? 0) * 4_096 >> 20
    }

    func end() throws {
        process.terminate()
        process.waitUntilExit()
        try FileManager.default.removeItem(at: folder)
    }
}
