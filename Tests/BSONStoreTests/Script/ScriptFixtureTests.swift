import Foundation
import Testing

@testable import BSONCore
@testable import BSONScript
@testable import BSONStore

/// Without these a script as people write it for MongoDB's shell could print something else here.
@Suite struct ScriptFixtureTests {
    /// A script and what node or MongoDB's shell prints for it.
    struct Sample: CustomTestStringConvertible, Sendable {
        let title: String
        let script: String
        let lines: String

        var testDescription: String { title }
    }

    /// The samples of `fixtures/scripts/shell.txt`: `### title`, the script, `--- prints`, the lines.
    static let samples: [Sample] = {
        let file = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "fixtures/scripts/shell.txt")
        do {
            let text = "\n" + (try String(contentsOf: file, encoding: .utf8))
            return text.components(separatedBy: "\n### ").dropFirst().map { part in
                let halves = part.components(separatedBy: "\n--- prints\n")
                let head = halves[0].components(separatedBy: "\n")
                return Sample(
                    title: head[0], script: head.dropFirst().joined(separator: "\n"),
                    lines: (halves.last ?? "").trimmingCharacters(in: .newlines))
            }
        } catch {
            return []
        }
    }()

    @Test func `there are samples`() { #expect(Self.samples.count >= 50) }

    @Test(arguments: samples)
    func `a script prints what it prints in MongoDB's shell`(sample: Sample) async throws {
        let printed = try await Self.onLargeStack { try Self.print(sample.script) }
        #expect(printed == sample.lines)
    }

    @Test func `an error has its place in the text of its own evaluation`() throws {
        let session = ScriptSession()
        _ = try session.evaluate("let a = 1\nfunction fail() {\n  throw new Error('no')\n}")
        let error = #expect(throws: ScriptError.self) { try session.evaluate("fail()") }
        #expect(error?.line == 3)
        #expect(error?.column == 3)
        let own = #expect(throws: ScriptError.self) {
            try session.evaluate("try { fail() } catch (e) {}\n  missing")
        }
        #expect(own?.line == 2)
        #expect(own?.column == 3)
    }

    private static func print(_ script: String) throws -> String {
        var options = ScriptOptions.shell
        options.stackBytesMax = 480 << 20
        let session = ScriptSession(options: options)
        var lines: [String] = []
        session.define("print") { [unowned session] arguments in
            lines.append(try arguments.map { try session.text($0) }.joined(separator: " "))
            return .undefined
        }
        _ = try session.evaluate(script)
        return lines.joined(separator: "\n")
    }

    /// Runs a body on a thread whose stack has room for deep calls.
    private static func onLargeStack<R: Sendable>(
        _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result(catching: body)) }
            thread.stackSize = 512 << 20
            thread.start()
        }
    }
}
