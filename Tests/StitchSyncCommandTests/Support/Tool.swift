import Foundation
import TestProcesses

/// Runs the built tool as a process, as a person at a terminal would.
enum Tool {
    /// What a run of the tool said.
    struct Answer: Sendable {
        /// The exit code; 128 and more for a signal.
        let code: Int32
        /// The lines of standard output.
        let output: [String]
        /// The lines of standard error.
        let complaints: [String]
    }

    /// Runs the tool in a folder, its standard input a file of that folder when one is named.
    static func run(
        _ arguments: String..., in folder: TemporaryFolder, input: String? = nil
    ) async throws -> Answer {
        try await run(arguments: arguments, in: folder, input: input)
    }

    /// Runs the tool with arguments that were put together.
    static func run(
        arguments: [String], in folder: TemporaryFolder, input: String? = nil
    ) async throws -> Answer {
        let process = Process()
        process.executableURL = try Program.tool
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        let names = ["stdout-\(UUID())", "stderr-\(UUID())"]
        let files = try names.map { name in
            try FileHandle(forWritingTo: URL(filePath: try folder.write([], to: name)))
        }
        process.standardOutput = files[0]
        process.standardError = files[1]
        process.standardInput =
            try input.map { try FileHandle(forReadingFrom: URL(filePath: folder.path($0))) }
            ?? FileHandle.nullDevice
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        let isSignal = process.terminationReason == .uncaughtSignal
        let texts = try names.map { name in
            try String(contentsOfFile: folder.path(name), encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        }
        return Answer(
            code: process.terminationStatus + (isSignal ? 128 : 0), output: texts[0],
            complaints: texts[1])
    }
}
