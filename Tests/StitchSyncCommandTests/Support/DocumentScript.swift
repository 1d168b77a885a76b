import Foundation
import TestProcesses

/// Runs the shell examples of a page in order, in one folder, as a reader would who copies them.
struct DocumentScript {
    /// What came of an example.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A page of the repository.
    static func page(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The repository's folder.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The fenced blocks of a page, in order, with the language that their fence names.
    static func blocks(_ page: String) -> [(language: String, lines: [String])] {
        var blocks: [(language: String, lines: [String])] = []
        var open: (language: String, lines: [String])?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(block)
                    open = nil
                } else {
                    open = (String(line.dropFirst(3)), [])
                }
            } else {
                open?.lines.append(String(line))
            }
        }
        return blocks
    }

    /// Runs all `sh` blocks; what stands in a `console` block behind one is what it must print, where
    /// `…` stands for any text.
    ///
    /// - Parameter prelude: what the shell is told first.
    static func run(
        _ page: String, in folder: TemporaryFolder, prelude: String = ""
    ) async throws {
        var script = """
            set -eu
            export MONGOC_DISABLE_SHM=1
            PATH="\(try Program.tool.deletingLastPathComponent().path):$PATH"
            cd "\(folder.url.path)"
            \(prelude)

            """
        var expected: [(number: Int, lines: [String])] = []
        var number = 0
        for block in blocks(page) {
            switch block.language {
            case "sh":
                number += 1
                let text = block.lines.joined(separator: "\n")
                script += "exec > out-\(number).txt\necho example \(number) >&2\n\(text)\n"
            case "console": expected.append((number, block.lines))
            default: break
            }
        }
        let file = try folder.write(Array(script.utf8), to: "examples.sh")
        let answer = try await Program.run(
            URL(filePath: "/bin/sh"), [file], limit: .seconds(300))
        guard number > 0 else { throw Failure(description: "the page has no examples") }
        guard answer.code == 0 else {
            throw Failure(description: "exit code \(answer.code): \(answer.output.suffix(2000))")
        }
        for (number, lines) in expected {
            let said = try String(contentsOfFile: folder.path("out-\(number).txt"), encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                .reversed().drop { $0.isEmpty }.reversed()
            guard lines.count == said.count, zip(lines, said).allSatisfy(isSame) else {
                throw Failure(
                    description: "example \(number) said\n\(said.joined(separator: "\n"))")
            }
        }
    }

    /// Whether a line is what the page says, where `…` is any text.
    static func isSame(_ expected: String, _ said: String) -> Bool {
        let parts = expected.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return expected == said }
        guard let first = parts.first, let last = parts.last, said.hasPrefix(first) else {
            return false
        }
        var rest = said.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let place = rest.range(of: part) else { return false }
            rest = rest[place.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
