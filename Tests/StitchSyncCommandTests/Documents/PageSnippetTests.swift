import BSONStore
import Foundation
import StitchSync
import StitchSyncTesting
import Testing

@testable import StitchSyncCommand

/// Without these a snippet of a page would not compile any more, and nobody would notice.
struct PageSnippetTests {
    /// Swift snippets and JSON of these pages stand in files that are compiled or played, word by word.
    static let pages = [
        "README.md", "Docs/TUTORIAL.md", "Docs/FIXTURES.md", "Docs/SYNC.md",
        "Docs/FLEXIBLE-SYNC.md", "Docs/RULES.md", "Docs/MONGODB.md",
        "Docs/REMOTES.md", "Docs/SCHEMA.md", "Docs/COOKBOOK.md", "Docs/STORE.md",
        "Docs/USERS.md", "Docs/ACCOUNTS.md",
    ]

    @Test(arguments: pages)
    func `every snippet stands in a file that the tests compile`(page: String) throws {
        let sources = try Self.sources()
        for block in DocumentScript.blocks(try DocumentScript.page(page))
        where block.language == "swift" {
            let wanted = Self.form(block.lines.joined(separator: "\n"))
            #expect(
                sources.contains { $0.contains(wanted) },
                "\(page): no compiled file has\n\(block.lines.joined(separator: "\n"))")
        }
    }

    @Test func `the tutorial's fixture is the one that is played`() throws {
        let page = try DocumentScript.page("Docs/TUTORIAL.md")
        let fixture = try DocumentScript.page(
            "Examples/Notes/Tests/NotesTests/Conflicts/notes.json")
        let block = DocumentScript.blocks(page).first { $0.language == "json" }
        #expect(block.map { $0.lines.joined(separator: "\n") + "\n" } == fixture)
    }

    @Test func `the tutorial's failure is what the broken handler gets`() async throws {
        let page = try DocumentScript.page("Docs/TUTORIAL.md")
        let block = DocumentScript.blocks(page).first { $0.language == "text" }
        let broken = ConflictHandler<BSONDocument> { conflict in
            conflict.local.map { .use($0) } ?? .useRemote
        }
        let fixtures = DocumentScript.root.appending(
            path: "Examples/Notes/Tests/NotesTests/Conflicts")
        let failure = await #expect(throws: FixtureFailure.self) {
            try await checkConflicts(in: fixtures.path, handler: broken)
        }
        #expect(block?.lines.joined(separator: "\n") == failure.map { String(describing: $0) })
    }

    /// The Swift files of examples and tests, and the examples' manifests, each in one form.
    private static func sources() throws -> [String] {
        try ["Examples", "Tests"].flatMap { folder in
            let url = DocumentScript.root.appending(path: folder)
            let names = try FileManager.default.subpathsOfDirectory(atPath: url.path)
            return try names.filter { $0.hasSuffix(".swift") && !$0.contains(".build") }.map {
                form(try String(contentsOf: url.appending(path: $0), encoding: .utf8))
            }
        }
    }

    /// A text without its imports, comments and blanks, which are laid out differently in a file.
    private static func form(_ text: String) -> String {
        text.replacing("\"../..\"", with: "\"../StitchSync\"")
            .split(separator: "\n").filter { !$0.contains("import ") }
            .map { line in
                (line.components(separatedBy: "//").first ?? "").filter { !$0.isWhitespace }
            }
            .joined()
    }

    @Test func `every command of the tutorial runs and prints what it says`() async throws {
        // What `swift run` would build is built beside the tool.
        let prelude = """
            swift() { [ "$1" = run ] && shift && "$@"; }
            """
        try await withTemporaryFolder { folder in
            try await DocumentScript.run(
                try DocumentScript.page("Docs/TUTORIAL.md"), in: folder, prelude: prelude)
        }
    }

    #if Remote && Server
        @Test func `every command of the users' page runs and prints what it says`() async throws {
            // What the reader starts in another terminal runs beside the examples, at a free port.
            let prelude = """
                swift() { shift && "$@"; }
                stitchsync() {
                    if [ "$1" != serve ]; then command stitchsync "$@"; return; fi
                    mkfifo said
                    exec 8<>said
                    command stitchsync "$@" --port 0 >said 2>server.log &
                    trap "kill $!" EXIT
                    read -r listening on address <&8
                    export SERVER="stitchsync://$address"
                }
                """
            try await withTemporaryFolder { folder in
                try await DocumentScript.run(
                    try DocumentScript.page("Docs/USERS.md"), in: folder, prelude: prelude)
            }
        }
    #endif
}
