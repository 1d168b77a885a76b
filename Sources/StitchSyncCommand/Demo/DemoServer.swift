import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A `stitchsync serve` process of the demo.
final class DemoServer {
    private let options: [String]
    private var process = Process()
    private(set) var port = 0

    /// Starts a server on a free port.
    ///
    /// - Parameter options: the options of `serve` without the port.
    init(_ options: [String]) throws {
        self.options = options
        try start()
    }

    /// Starts the server, on the previous port if there was one.
    func start() throws {
        guard let executable = Bundle.main.executableURL else {
            throw CommandError("cannot find the program's own executable file")
        }
        let output = Pipe()
        process = Process()
        process.executableURL = executable
        process.arguments = ["serve", "--port", String(port)] + options
        // A killed process would leave libmongoc's file of statistics in /dev/shm.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["MONGOC_DISABLE_SHM": "1"]
        ) { _, ours in ours }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        var lines = LineReader(Descriptor(number: output.fileHandleForReading.fileDescriptor))
        guard let line = try lines.next(), case .bytes(let bytes) = line.content,
            // The server prints a remark about its store after the port.
            let last = String(decoding: bytes, as: UTF8.self).split(separator: ":")
                .last?.split(separator: " ").first,
            let number = Int(last)
        else { throw CommandError("the server ended before it was ready") }
        port = number
    }

    /// Kills the server (SIGKILL).
    func kill() { end(SIGKILL) }

    /// Stops the server (SIGTERM).
    func stop() { end(SIGTERM) }

    private func end(_ signal: Int32) {
        guard process.isRunning else { return }
        process.end(by: signal)
    }
}
