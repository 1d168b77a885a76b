import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// The console has an administrator's power: whoever gets a foot in its door has the whole server.
@Suite(.timeLimit(.minutes(5))) struct ConsoleTests {
    @Test(
        "only administrators come in, by the console's own pages, and only as long as they are some"
    )
    func attacks() async throws {
        let reader =
            #"{"roles": [{"name": "reader", "apply_when": {}, "read": true, "write": false}]}"#
        try await OpenRules.lend(["app/todos/rules.json": reader]) { rules in
            var settings = ServerSettings()
            (settings.port, settings.consolePort) = (0, 0)
            settings.requiresSignIn = true
            settings.rules = try ReloadableRules(folder: rules)
            let store = try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
            for name in ["root", "second", "ann"] {
                try ServerUsers.add(
                    name, password: "\(name)'s password",
                    roles: [name == "ann" ? "readWrite@app" : "root"], customData: nil, to: store)
            }
            let server = try await Server.start(store, settings: settings)
            let result: Result<Python.Answer, any Error>
            do {
                result = .success(
                    try await Python.run("console.py", String(server.consolePort ?? 0)))
            } catch {
                result = .failure(error)
            }
            try await server.stop()
            let answer = try result.get()
            #expect(answer.code == 0 && answer.output.hasSuffix("ok\n"), "\(answer.output)")
        }
    }

    @Test(
        "one administrator's slow requests keep no other from the pages, and end with the browser")
    func busy() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "console-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var settings = ServerSettings()
        (settings.port, settings.consolePort) = (0, 0)
        settings.requiresSignIn = true
        let store = try DocumentStore(at: .file(folder.appending(path: "a.stitch").path))
        for name in ["root", "second"] {
            try ServerUsers.add(
                name, password: "\(name)'s password", roles: ["root"], customData: nil, to: store)
        }
        let server = try await Server.start(store, settings: settings)
        let result: Result<Python.Answer, any Error>
        do {
            result = .success(
                try await Python.run("console_busy.py", String(server.consolePort ?? 0)))
        } catch {
            result = .failure(error)
        }
        try await server.stop()
        try removeFolder(atPath: folder.path)
        let answer = try result.get()
        #expect(answer.code == 0 && answer.output.hasSuffix("ok\n"), "\(answer.output)")
    }

    @Test("localhost by its name is this machine, too")
    func localName() async throws {
        var settings = ServerSettings()
        (settings.port, settings.consolePort, settings.consoleHost) = (0, 0, "localhost")
        let server = try await Server.start(
            try DocumentStore(at: .inMemory), settings: settings)
        #expect(server.consolePort != nil)
        try await server.stop()
    }

    @Test("a console that others can reach needs sign-in and encryption")
    func safety() async throws {
        var settings = ServerSettings()
        (settings.port, settings.consolePort, settings.consoleHost) = (0, 0, "0.0.0.0")
        let store = try DocumentStore(at: .inMemory)
        await #expect(throws: UnsafeSettings.self) {
            try await Server.start(store, settings: settings)
        }
    }
}
