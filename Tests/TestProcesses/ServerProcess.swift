internal import BSONStore
package import Foundation

/// A process of `stitchsync serve` over a file of its own.
package final class ServerProcess {
    /// The port it listens on.
    package private(set) var port = 0
    /// The folder of its file, removed in the end.
    package let folder: URL
    private var process = Process()
    private var output = Pipe()
    private var log: FileHandle?
    private var hasFile = true

    /// Starts a server on a free port, lends it, and ends it.
    ///
    /// - Parameters:
    ///   - hasFile: whether it is given a file; else it makes a temporary one in its folder.
    ///   - log: a file for what it says on standard error.
    package static func run<R>(
        _ arguments: [String] = [], hasFile: Bool = true, log: URL? = nil,
        _ body: (ServerProcess) async throws -> R
    ) async throws -> R {
        let server = try ServerProcess()
        server.hasFile = hasFile
        server.log = try log.map { try FileHandle(forWritingTo: $0) }
        defer { unlinkAll(server.folder) }
        try server.start(arguments)
        let result: Result<R, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        server.end(SIGTERM)
        return try result.get()
    }

    /// Starts a server on a free port; the caller ends it and removes its folder.
    ///
    /// - Parameter hasFile: whether it is given a file; a gateway has none.
    package static func start(
        _ arguments: [String] = [], hasFile: Bool = true
    ) throws -> ServerProcess {
        let server = try ServerProcess()
        server.hasFile = hasFile
        do {
            try server.start(arguments)
        } catch {
            unlinkAll(server.folder)
            throw error
        }
        return server
    }

    /// Ends the server and removes what it left.
    package func remove() {
        end(SIGKILL)
        Self.unlinkAll(folder)
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "stitchserve-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The path of the store's file.
    package var path: String { folder.appending(path: "served.stitch").path }

    private func start(_ arguments: [String]) throws {
        process.executableURL = try Program.tool
        process.arguments = ["serve", "--port", "0"] + (hasFile ? ["--db", path] : []) + arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TMPDIR": folder.path]) { $1 }
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        // Not the test's own: who reads that waits until the last process that has it ends.
        process.standardError = log ?? FileHandle.nullDevice
        try process.run()
        endWithTests()
        // The line comes once the server listens; without one the pipe ends with the process.
        var line = Data()
        while !line.contains(0x0A) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else {
                throw ProgramFailure(reason: "stitchsync serve ended before it was ready")
            }
            line.append(more)
        }
        let text = String(decoding: line, as: UTF8.self)
        guard
            let last = text.split(separator: "\n").first?.split(separator: ":").dropFirst().first?
                .split(separator: " ").first,
            let number = Int(last)
        else { throw ProgramFailure(reason: "no ready line but: \(text)") }
        port = number
    }

    /// Ends the server by a signal and starts one on the same file, on another port.
    package func restart(_ signal: Int32, _ arguments: [String] = []) throws {
        try restart(signal, arguments) {}
    }

    /// As ``restart(_:_:)``, with something that is done to the file while no server has it.
    package func restart(
        _ signal: Int32, _ arguments: [String] = [], whileStopped body: () throws -> Void
    ) throws {
        end(signal)
        try body()
        process = Process()
        output = Pipe()
        try start(arguments)
    }

    /// Sends a signal, waits for the end, and gives the exit code.
    @discardableResult
    package func end(_ signal: Int32) -> Int32 {
        if process.isRunning { kill(process.processIdentifier, signal) }
        process.waitUntilExit()
        let number = process.processIdentifier
        Self.running.withLock { $0[number] = nil }
        return process.terminationStatus
    }

    /// The number of the process.
    package var processID: pid_t { process.processIdentifier }

    /// Whether the process has not ended.
    package var isRunning: Bool { process.isRunning }

    /// Sends a signal and waits for the end; a server that takes longer is killed.
    ///
    /// - Returns: whether it ended by itself in time.
    package func end(_ signal: Int32, within limit: Duration) -> Bool {
        let number = process.processIdentifier
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { kill(number, SIGKILL) }
        timer.schedule(deadline: .now() + Double(limit.components.seconds))
        timer.resume()
        defer { timer.cancel() }
        let code = end(signal)
        return !(process.terminationReason == .uncaughtSignal && code == SIGKILL)
    }

    /// The servers whose end was not waited for, with their folders.
    private static let running = Locked<[pid_t: URL]>([:])
    private static let isWatching: Bool = atexit { ServerProcess.endAll() } == 0

    /// Sees to it that a server that a test forgot ends when the tests do.
    private func endWithTests() {
        guard Self.isWatching else { return }
        let (number, folder) = (process.processIdentifier, folder)
        Self.running.withLock { $0[number] = folder }
    }

    private static func endAll() {
        for (number, folder) in running.withLock({ $0 }) {
            kill(number, SIGKILL)
            unlinkAll(folder)
        }
    }

    private static func unlinkAll(_ folder: URL) {
        do { try FileManager.default.removeItem(at: folder) } catch {}
    }
}
