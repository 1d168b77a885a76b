import Foundation
import StitchSync
import TestProcesses

/// Damages files of a device or of its remote and looks what becomes of the documents:
/// `mutations=5000 from=1 jobs=2`, or `seed=7` to run one mutation again and tell more.
@main struct Attacker {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2, arguments[0] == "child" {
            exit(await Victim(folder: arguments[1]).run())
        }
        var settings: [String: UInt64] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=")
            if parts.count == 2 { settings[String(parts[0])] = UInt64(parts[1]) }
        }
        let place = FileManager.default.temporaryDirectory.appending(path: "attack-\(UUID())").path
        let world = try await AttackWorld.make(in: place)
        let tally = try await attack(world, settings)
        try FileManager.default.removeItem(atPath: place)
        print(tally)
        exit(tally.isClean ? 0 : 1)
    }

    private static func attack(
        _ world: AttackWorld, _ settings: [String: UInt64]
    ) async throws -> AttackTally {
        if let seed = settings["seed"] {
            let outcome = try await world.attack(seed: seed)
            print(outcome)
            return AttackTally(outcome)
        }
        let from = settings["from"] ?? 1
        let end = from + (settings["mutations"] ?? 5_000)
        let jobs = settings["jobs"] ?? 2
        return try await withThrowingTaskGroup(of: AttackTally.self) { group in
            for job in 0..<jobs {
                group.addTask {
                    var tally = AttackTally()
                    for seed in stride(from: from + job, to: end, by: Int(jobs)) {
                        let outcome = try await world.attack(seed: seed)
                        if outcome.isFailure { print("seed \(seed): \(outcome)") }
                        tally.add(AttackTally(outcome))
                    }
                    return tally
                }
            }
            var all = AttackTally()
            for try await tally in group { all.add(tally) }
            return all
        }
    }
}

/// What became of one mutation.
struct AttackOutcome: CustomStringConvertible {
    let mutation: String
    let code: Int32
    let output: String
    let lost: [String]

    /// The child ended by itself; with 3 where an error told of the damage.
    var isRefused: Bool { code == 3 }
    var isClean: Bool { code == 0 }
    /// The time limit ends with SIGXCPU or SIGKILL.
    var isHang: Bool { code == 128 + SIGXCPU || code == 128 + SIGKILL }
    var isTrap: Bool { !isClean && !isRefused && !isHang }
    var isFailure: Bool { isHang || isTrap || !lost.isEmpty }

    var description: String {
        "\(mutation): code \(code), lost \(lost)\n\(output)"
    }
}

/// Counts what became of the mutations.
struct AttackTally: CustomStringConvertible {
    private var mutations = 0
    private var clean = 0
    private var refused = 0
    private var traps = 0
    private var hangs = 0
    private var lost = 0

    init() {}

    init(_ outcome: AttackOutcome) {
        mutations = 1
        clean = outcome.isClean ? 1 : 0
        refused = outcome.isRefused ? 1 : 0
        traps = outcome.isTrap ? 1 : 0
        hangs = outcome.isHang ? 1 : 0
        lost = outcome.lost.count
    }

    var isClean: Bool { mutations > 0 && traps == 0 && hangs == 0 && lost == 0 }

    mutating func add(_ other: AttackTally) {
        mutations += other.mutations
        clean += other.clean
        refused += other.refused
        traps += other.traps
        hangs += other.hangs
        lost += other.lost
    }

    var description: String {
        "mutations \(mutations): clean \(clean), refused \(refused), traps \(traps), "
            + "hangs \(hangs), lost \(lost)"
    }
}
