import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A device's file holds all that its user wrote: only the browser of the one who started the pages
/// may read it, and no browser may write it.
@Suite(.timeLimit(.minutes(5))) struct DeviceConsoleTests {
    @Test("only the printed address opens a file's pages, which read it while an app writes")
    func attacks() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let path = folder.appending(path: "device.stitch").path
        let app = try DocumentStore(at: .file(path))
        defer { app.close() }
        let todos = Namespace("app", "todos")
        try await app.write { _ = try $0.insert(todos, ["_id": 1, "title": "one"]) }
        let console = try await DeviceConsole.start("device.stitch", port: 0) {
            try DocumentStore(at: .file(path), options: .init(readOnly: true))
        } read: { page, query in
            page.hasSameBytes(as: "overview") ? ["id": .string(query["id"] ?? "none")] : nil
        }
        let result: Result<Python.Answer, any Error>
        do {
            result = .success(try await Python.run("deviceconsole.py", console.address))
        } catch {
            result = .failure(error)
        }
        try await console.stop()
        let answer = try result.get()
        #expect(answer.code == 0 && answer.output.hasSuffix("ok\n"), "\(answer.output)")
        #expect(try app.read { try $0.count(todos) } == 1)
    }
}
