import BSONStore
import Foundation
import StitchSync
import SyncSimulation
import TestProcesses

/// Damages files, asks a server for much, lies to a device and floods a server, and looks what becomes of
/// the documents: `mutations=5000 requests=2000 remotes=4000 floods=60 from=1 jobs=2`, or
/// `seed=7 of=remotes` to run one attempt again and tell more; `print=200` writes expensive requests,
/// and the commands that fill their database, as lines of Extended JSON.
@main struct Attacker {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2, arguments[0] == "child" {
            exit(await Victim(folder: arguments[1]).run())
        }
        if arguments.count == 2, arguments[0] == "lied", let seed = UInt64(arguments[1]) {
            exit(try await LiedDevice(seed: seed).run())
        }
        let settings = AttackSettings(arguments)
        if let count = settings.printed { return try write(count, from: settings.first) }
        var total = AttackTally("total")
        for part in AttackPart.allCases {
            let seeds = settings.seeds(of: part)
            guard !seeds.isEmpty else { continue }
            let tally = try await attack(part, seeds, settings)
            print(tally)
            total.add(tally)
        }
        print(total)
        exit(total.isClean ? 0 : 1)
    }

    /// Writes what other programs send to a server.
    private static func write(_ count: UInt64, from first: UInt64) throws {
        for command in AttackedCollections.commands {
            print((["fill": .document(command)] as BSONDocument).extendedJSON(.canonical))
        }
        for seed in first..<first + count {
            var random = SimulationRandom(seed: seed)
            let command = try ExpensiveRequest.draw(&random).command
            print((["request": .document(command)] as BSONDocument).extendedJSON(.canonical))
        }
    }

    private static func attack(
        _ part: AttackPart, _ seeds: [UInt64], _ settings: AttackSettings
    ) async throws -> AttackTally {
        switch part {
        case .mutations:
            let temporary = FileManager.default.temporaryDirectory
            let place = temporary.appending(path: "attack-\(UUID())").path
            let world = try await AttackWorld.make(in: place)
            let tally = try await attack(part, seeds, settings) { try await world.attack(seed: $0) }
            try FileManager.default.removeItem(atPath: place)
            return tally
        case .requests: return try await RequestAttack(tells: settings.seed != nil).run(seeds)
        case .remotes:
            return try await attack(part, seeds, settings) {
                try await LiedDevice(seed: $0).attack()
            }
        case .floods: return try await FloodAttack(tells: settings.seed != nil).run(seeds)
        }
    }

    /// Attempts each seed, some at the same time.
    private static func attack(
        _ part: AttackPart, _ seeds: [UInt64], _ settings: AttackSettings,
        _ attempt: @escaping @Sendable (UInt64) async throws -> AttackOutcome
    ) async throws -> AttackTally {
        let tells = settings.seed != nil
        return try await withThrowingTaskGroup(of: AttackTally.self) { group in
            for job in 0..<settings.jobs {
                group.addTask {
                    var tally = AttackTally(part.rawValue)
                    for index in stride(from: job, to: seeds.count, by: settings.jobs) {
                        let outcome = try await attempt(seeds[index])
                        if tells, !outcome.isFailure { print(outcome) }
                        tally.add(outcome, seed: seeds[index])
                    }
                    return tally
                }
            }
            var all = AttackTally(part.rawValue)
            for try await tally in group { all.add(tally) }
            return all
        }
    }
}
