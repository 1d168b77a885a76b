#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these what a person of another tool types first would meet an answer that helps
    /// nobody.
    @Suite struct FirstLineTests {
        private static let file = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "fixtures/shell/first-lines.txt")

        /// The number of lines of an answer that the page keeps.
        private static let linesMax = 6

        /// Plays `fixtures/shell/first-lines.txt`.
        ///
        /// `$ ` stands before a line for a terminal and `> ` before one for the shell on the store
        /// `shop`; `! ` stands before a line of standard error, `SERVER` for a server's address, and
        /// `…` for the rest of a long answer.
        @Test func `what people type first gets the answer that the page has`() async throws {
            let page = try String(contentsOf: Self.file, encoding: .utf8)
            let lines = page.split(separator: "\n").filter {
                $0.hasPrefix("$ ") || $0.hasPrefix("> ")
            }
            #expect(lines.count == 80)
            let played = try await withTemporaryFolder { folder in
                _ = try folder.write(
                    lines: [
                        #"{"_id": 1, "name": "pen", "price": 2}"#,
                        #"{"_id": 2, "name": "ink", "price": 7}"#,
                    ], to: "in.jsonl")
                return try await ServerProcess.run { server in
                    var played: [String] = []
                    for line in lines {
                        let address = "stitchsync://127.0.0.1:\(server.port)"
                        let answer = try await Self.answer(line, address, folder)
                        played += [String(line)] + answer
                    }
                    return played.joined(separator: "\n") + "\n"
                }
            }
            if ProcessInfo.processInfo.environment["GOLDEN_UPDATE"] == "1" {
                try Data(played.utf8).write(to: Self.file)
            }
            #expect(
                page == played,
                "GOLDEN_UPDATE=1 writes it anew: \(Self.difference(page, played))")
        }

        private static func difference(_ left: String, _ right: String) -> String {
            let (left, right) = (left.split(separator: "\n"), right.split(separator: "\n"))
            return "\(right.difference(from: left))"
        }

        private static func answer(
            _ line: Substring, _ address: String, _ folder: TemporaryFolder
        ) async throws -> [String] {
            let text = line.dropFirst(2).replacing("SERVER", with: address)
            let answer: Tool.Answer
            if line.hasPrefix("> ") {
                _ = try folder.write(lines: ["use shop", String(text)], to: "typed")
                answer = try await Tool.run("shell", "shop", in: folder, input: "typed")
            } else {
                answer = try await Tool.run(
                    arguments: Array(words(text).dropFirst()), in: folder)
            }
            // The shell's answer to `use`.
            let output = answer.output.filter { $0 != "switched to db shop" }
            let complaints = answer.complaints.filter { !$0.contains(" mongoc: ") }
                .map { "! \($0)" }
            return (shortened(output) + shortened(complaints)).map {
                $0.replacing(address, with: "SERVER")
            }
        }

        private static func shortened(_ lines: [String]) -> [String] {
            lines.count > linesMax ? lines.prefix(linesMax) + ["…"] : lines
        }

        /// The words of a line, as a shell takes them apart where there are only single quotes.
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
    }
#endif
