import Foundation
import TestProcesses

/// Runs a program that uses MongoDB's C driver, built when it is first needed.
enum CDriver {
    /// Runs the program against a server.
    ///
    /// - Parameter options: of the connection string, such as `tls=true`.
    static func run(
        port: Int, user: String = "", options: String = "", _ arguments: String...
    ) async throws -> Python.Answer {
        let host = options.isEmpty ? "127.0.0.1" : "localhost"
        return try await Program.run(
            try program.get(), ["mongodb://\(user)\(host):\(port)/?\(options)"] + arguments,
            limit: .seconds(600))
    }

    private static let program = Result<URL, any Error> {
        let source = Python.folder.appending(path: "Tests/StitchServerTests/C/driver.c")
        let program = Python.folder.appending(path: ".build/driver-test")
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // Quoted for the shell, since a checkout may lie in a folder with blanks.
        process.arguments = [
            "-c",
            """
            mkdir -p "$(dirname "$2")"
            cc -Wall -Wextra -Werror -o "$2" "$1" $(pkg-config --cflags --libs libmongoc-1.0)
            """, "sh", source.path, program.path,
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ProgramFailure(reason: "the C driver's program does not build")
        }
        return program
    }
}
