import Foundation
import TestProcesses
import Testing

/// Rules decide who sees what: one road past them opens everything.
@Suite(.timeLimit(.minutes(60))) struct RulesTests {
    private static let rules = Python.folder.appending(path: "fixtures/rules/app").path

    @Test(
        "Every road leads each user to just what the rules let that user see and write",
        arguments: RuledWorld.Place.allCases)
    func matrix(_ place: RuledWorld.Place) async throws {
        let answer = try await place.lend { ports in
            try await Python.run("matrix.py", String(ports[0]), String(ports[ports.count - 1]))
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test(
        "Two servers that differ only in what is hidden answer byte for byte alike",
        arguments: RuledWorld.Place.allCases)
    func twins(_ place: RuledWorld.Place) async throws {
        let wanted = ProcessInfo.processInfo.environment["TWIN_SESSIONS"] ?? "100"
        let count = try #require(UInt64(wanted))
        try await place.lend { one in
            try await place.lend { other in
                let ports = [one, other]
                let difference = try await BlockingThread.run { () -> String? in
                    let twins = try TwinServers(ports: ports)
                    for seed in 1_000_000..<(1_000_000 + count) {
                        if let difference = try twins.difference(seed: seed) { return difference }
                    }
                    return nil
                }
                #expect(difference == nil)
            }
        }
    }

    @Test("Rules that are read again hold at once, and wrong ones change nothing")
    func reloading() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID())")
        try FileManager.default.copyItem(atPath: Self.rules, toPath: folder.path)
        let arguments = ["--auth", "--rules", folder.path]
        let answer = try await ServerProcess.run(arguments) { server in
            try await Python.run("reload.py", String(server.port), folder.path)
        }
        #expect(answer.code == 0, "\(answer.output)")
        try FileManager.default.removeItem(at: folder)
    }

    @Test("Custom data that a default rule lets users write is told when the server starts")
    func writableCustomData() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID())")
        try FileManager.default.copyItem(atPath: Self.rules, toPath: folder.path)
        let role = #"{"name": "everybody", "apply_when": {}, "read": true, "write": true}"#
        try Data(#"{"roles": [\#(role)]}"#.utf8).write(
            to: folder.appending(path: "data_sources/mongodb-atlas/default_rule.json"))
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        let arguments = ["--auth", "--rules", folder.path]
        let said = try await ServerProcess.run(arguments, log: log) { _ in
            try String(contentsOf: log, encoding: .utf8)
        }
        #expect(said.contains("warning") && said.contains("shop.profiles"), "\(said)")
        try FileManager.default.removeItem(at: folder)
    }

    @Test("Without signing in, or with rules that cannot be read, the server does not start")
    func refusals() async throws {
        let unsigned = try await Program.run(
            Program.tool, ["serve", "--port", "0", "--rules", Self.rules], limit: .seconds(30))
        #expect(unsigned.code == 64 && unsigned.output.contains("--rules needs --auth"))
        let missing = try await Program.run(
            Program.tool, ["serve", "--port", "0", "--auth", "--rules", "/nowhere/at/all"],
            limit: .seconds(30))
        #expect(missing.code == 1, "\(missing.output)")
    }
}
