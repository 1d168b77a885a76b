import Foundation
import TestProcesses

/// A process of the attacker's own program that may die of what is done to it.
enum AttackChild {
    /// Runs the program with ten seconds of CPU time, on a busy machine too.
    static func run(_ arguments: String...) async throws -> Program.Answer {
        guard let program = Bundle.main.executableURL else {
            throw ProgramFailure(reason: "the attacker does not know its own file")
        }
        let script = "ulimit -c 0; ulimit -t 10; exec \"$0\" \"$@\""
        return try await Program.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script, program.path] + arguments,
            environment: ["SWIFT_BACKTRACE": "enable=no"], limit: .seconds(120))
    }
}
