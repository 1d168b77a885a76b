package import Foundation

/// Runs other programs to their end.
package enum Program {
    /// What a program said.
    package struct Answer: Sendable {
        package let code: Int32
        package let output: String
    }

    /// Runs a program; one that takes too long is ended by a signal, and has the code 128 more.
    package static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:],
        limit: Duration, endedBy signal: Int32 = SIGKILL
    ) async throws -> Answer {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = FileManager.default.temporaryDirectory.appending(
            path: "stitchsync-\(UUID()).txt")
        try Data().write(to: output)
        defer { unlink(output.path) }
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        let number = process.processIdentifier
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { kill(number, signal) }
        timer.schedule(deadline: .now() + Double(limit.components.seconds))
        timer.resume()
        for await _ in ends {}
        timer.cancel()
        let isSignal = process.terminationReason == .uncaughtSignal
        return Answer(
            code: process.terminationStatus + (isSignal ? 128 : 0),
            output: try String(contentsOf: output, encoding: .utf8))
    }

    /// The built tool.
    package static var tool: URL { get throws { try built("stitchsync") } }

    /// A built program, which lies beside the test's own.
    package static func built(_ name: String) throws -> URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        let program = bundle?.bundleURL ?? Bundle.main.executableURL
        let file = program?.deletingLastPathComponent().appending(path: name)
        guard let file, FileManager.default.isExecutableFile(atPath: file.path) else {
            throw ProgramFailure(reason: "no \(name) at \(file?.path ?? "-")")
        }
        return file
    }
}

/// The error of a program that could not be run.
package struct ProgramFailure: Error {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}
