import TestProcesses
import Testing

/// Without this a damaged file, a greedy request, a lying remote or a flood could end a process, hold it up
/// for ever, or have a side that did nothing wrong lose documents; `make attack` tries more.
@Suite(.timeLimit(.minutes(30))) struct AttackTests {
    @Test(
        "an attack ends nothing, holds nothing up and takes nothing away",
        arguments: ["mutations=60", "requests=25", "remotes=40", "floods=3"])
    func attack(_ part: String) async throws {
        let answer = try await Program.run(
            try Program.built("Attacker"), [part, "jobs=1"], limit: .seconds(500))
        #expect(answer.code == 0, "\(answer.output)")
        #expect(answer.output.contains("traps 0, hangs 0, lost 0"))
    }
}
