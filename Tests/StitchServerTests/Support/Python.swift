import Foundation
import TestProcesses

/// Runs programs that use MongoDB's Python driver.
enum Python {
    typealias Answer = Program.Answer

    /// Runs a script of the folder `Python` with arguments.
    static func run(
        _ script: String, _ arguments: String..., limit: Duration = .seconds(600)
    ) async throws -> Answer {
        let path = folder.appending(path: "Tests/StitchServerTests/Python/\(script)").path
        return try await Program.run(
            try interpreter.get(), ["-B", path] + arguments, limit: limit)
    }

    /// The root of the package.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The interpreter with the driver; installed when it is missing.
    private static let interpreter = Result<URL, any Error> {
        let process = Process()
        process.executableURL = folder.appending(path: "Scripts/setup-python")
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ProgramFailure(reason: "Scripts/setup-python failed; see its complaint above")
        }
        let text = String(decoding: output, as: UTF8.self)
        return URL(filePath: text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
