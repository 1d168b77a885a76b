import BSONStore
import Foundation
import TestProcesses

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The tool at a terminal, as a person uses it.
final class TerminalProcess {
    private let master: Int32
    private let process = Process()
    private let ends: AsyncStream<Void>
    private let chunks: AsyncStream<[UInt8]>
    private var unread = ""

    /// Starts the tool in a folder, which is also the home of the person.
    ///
    /// - Parameter isColoured: whether the person wants colors.
    init(
        _ arguments: String..., in folder: TemporaryFolder, isColoured: Bool = false
    ) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        guard openpty(&master, &slave, nil, nil, nil) == 0 else {
            throw TerminalFailure(reason: "no terminal: \(String(cString: strerror(errno)))")
        }
        self.master = master
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.executableURL = try Program.tool
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(
            [
                "HOME": folder.url.path, "TERM": "xterm", "NO_COLOR": isColoured ? "" : "1",
            ]
        ) { $1 }
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        self.ends = ends
        process.terminationHandler = { _ in end.finish() }
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        chunks = stream
        try process.run()
        close(slave)
        let isStarted = DetachedThread.start { [master] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(master, &buffer, buffer.count), count > 0 {
                continuation.yield(Array(buffer[..<count]))
            }
            continuation.finish()
        }
        guard isStarted else { throw TerminalFailure(reason: "no thread") }
    }

    /// Types a text.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Waits until the tool has written a text.
    func expect(_ text: String) async throws {
        if take(text) { return }
        for await chunk in chunks {
            // Swift takes a carriage return with its line feed for one character.
            unread += String(decoding: chunk.filter { $0 != 0x0d }, as: UTF8.self)
            if take(text) { return }
        }
        throw TerminalFailure(reason: "\(text.debugDescription) not in \(unread)")
    }

    /// Whether a text was written; what comes before it counts as read.
    private func take(_ text: String) -> Bool {
        guard let found = unread.firstRange(of: text) else { return false }
        unread = String(unread[found.upperBound...])
        return true
    }

    /// Sends the signal of Ctrl-C, as a terminal does while no line is read.
    func interrupt() { kill(process.processIdentifier, SIGINT) }

    /// Waits for the end and returns the exit code.
    func code() async -> Int32 {
        for await _ in ends {}
        close(master)
        return process.terminationStatus
    }
}

/// The reason why a terminal does not answer as expected.
struct TerminalFailure: Error {
    let reason: String
}
