import ArgumentParser
import Foundation
import Testing

@testable import StitchSyncCommand

/// Without these the page of commands would tell of options that are gone, and its examples fail.
struct CommandPageTests {
    private static let path = "Docs/CLI.md"

    /// A command as a person calls it.
    private struct Command {
        let name: String
        let type: any ParsableCommand.Type

        var help: String {
            StitchSyncCommand.helpMessage(for: type, columns: 100)
                .split(separator: "\n", omittingEmptySubsequences: false)
                .map { String($0.reversed().drop { $0 == " " }.reversed()) }
                .joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static func commands(
        _ type: any ParsableCommand.Type, _ name: String
    ) -> [Command] {
        [Command(name: name, type: type)]
            + type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap {
                commands($0, "\(name) \($0.configuration.commandName ?? "")")
            }
    }

    private static let commands = commands(StitchSyncCommand.self, "stitchsync")

    /// The page with each command's help put in under its heading.
    private static func renewed(_ page: String) -> String {
        var lines: [String] = []
        var heading = ""
        var isInHelp = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
            if isInHelp {
                guard line == "```" else { continue }
                isInHelp = false
            }
            lines.append(String(line))
            if line == "```help" {
                isInHelp = true
                let command = commands.first { "`\($0.name)`" == heading }
                lines += (command?.help ?? "no such command").split(
                    separator: "\n", omittingEmptySubsequences: false
                ).map(String.init)
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test func `the page has each command's help as the tool prints it`() throws {
        let page = try DocumentScript.page(Self.path)
        let renewed = Self.renewed(page)
        if ProcessInfo.processInfo.environment["GOLDEN_UPDATE"] == "1" {
            try Data(renewed.utf8).write(to: DocumentScript.root.appending(path: Self.path))
        }
        #expect(page == renewed, "GOLDEN_UPDATE=1 writes it anew")
        let headings = Set(page.split(separator: "\n").filter { $0.hasPrefix("### ") })
        for command in Self.commands {
            #expect(headings.contains("### `\(command.name)`"), "\(command.name) is missing")
        }
        #expect(
            DocumentScript.blocks(page).filter { $0.language == "help" }.count
                == Self.commands.count)
    }

    @Test func `each command's help has examples that the tool understands`() throws {
        for command in Self.commands {
            let lines = command.type.configuration.discussion.split(separator: "\n")
            let examples = lines.joined(separator: "\n").replacing("\\\n", with: "")
                .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("stitchsync ") }
            #expect(!examples.isEmpty, "\(command.name) has no example")
            for example in examples {
                let text = example.prefix { $0 != ">" }
                #expect(throws: Never.self, "\(example)") {
                    _ = try StitchSyncCommand.parseAsRoot(Array(Self.words(text).dropFirst()))
                }
            }
            guard command.type.configuration.subcommands.isEmpty else { continue }
            #expect(
                command.type.configuration.discussion.contains("Exit code"),
                "\(command.name) does not tell its exit codes")
        }
    }

    /// The words of a command line, as a shell takes them apart where there are only single quotes.
    private static func words(_ line: some StringProtocol) -> [String] {
        var words: [String] = []
        for (index, part) in line.components(separatedBy: "'").enumerated() {
            if index % 2 == 1 {
                words.append(part)
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }

    @Test func `every example of the page runs and says what stands below it`() async throws {
        try await withTemporaryFolder { folder in
            try await DocumentScript.run(try DocumentScript.page(Self.path), in: folder)
        }
    }

    @Test func `completion scripts know every command`() async throws {
        try await withTemporaryFolder { folder in
            for shell in ["bash", "zsh", "fish"] {
                let script = try await Tool.run("--generate-completion-script", shell, in: folder)
                #expect(script.code == 0)
                let text = script.output.joined(separator: "\n")
                for command in Self.commands {
                    let name = command.name.split(separator: " ").last ?? ""
                    #expect(text.contains(name), "\(shell) does not know \(name)")
                }
            }
        }
    }
}
