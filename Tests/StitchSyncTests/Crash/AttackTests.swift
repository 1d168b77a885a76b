import TestProcesses
import Testing

/// Without this a damaged file could end the process, hold it up for ever, or have the other side lose
/// documents; `make attack` tries more.
struct AttackTests {
    @Test("a damaged file ends nothing and takes nothing from the other side")
    func mutations() async throws {
        let answer = try await Program.run(
            try Program.built("Attacker"), ["mutations=60", "jobs=1"], limit: .seconds(600))
        #expect(answer.code == 0, "\(answer.output)")
        #expect(answer.output.contains("traps 0, hangs 0, lost 0"))
    }
}
