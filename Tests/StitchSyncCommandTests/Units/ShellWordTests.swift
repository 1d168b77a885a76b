import BSONStore
import Foundation
import Testing

@testable import StitchSyncCommand

/// Without these an id or a name of somebody else is a command that a person pastes.
@Suite struct ShellWordTests {
    private static let hostile = [
        "x'; echo owned; '", "a; echo owned", "$(echo owned)", "`echo owned`", "a b", "*", "~", "",
        "\\", "\"", "a\nb", "#x", "!x", "a&b", "|x", ">x", "-x", "é",
    ]

    /// Returns the words that a shell makes of a text.
    private static func words(_ text: String) throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "printf '%s\\0' \(text)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return data.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: hostile) func `a word stays one word`(_ text: String) throws {
        #expect(try Self.words("\(ShellWord(text))") == [text])
        let option = try Self.words(ShellWord.option("user", text)).joined(separator: "=")
        #expect(option == "--user=\(text)")
    }

    #if CommandLine && Server
        @Test(arguments: hostile) func `the command of a story names its user and id`(
            _ text: String
        ) throws {
            let story = ServerStory(
                ["denied": [["user": .string(text), "cause": "noRole"]]], .string(text),
                Namespace("app", "c\(text)"), text, 10)
            let line = try #require(story.endLines.last)
            let command = try #require(line.range(of: ": ").map { String(line[$0.upperBound...]) })
            let words = try Self.words(command)
            #expect(
                words.starts(with: ["stitchsync", "rules", "explain", "RULES", "app.c\(text)"]))
            #expect(words.contains(BSONValue.string(text).extendedJSON(.relaxed)))
            #expect(!words.contains("owned"))
            let place = DocumentPlace(
                store: text, namespace: Namespace("app", "c\(text)"), id: .string(text))
            #expect(
                try Self.words(place.resumptionWords) == [
                    "stitchsync", "resume", text, "app.c\(text)", "--ids",
                    "[\(BSONValue.string(text).extendedJSON(.relaxed))]",
                ])
        }
    #endif
}
