import BSONStore
import Testing

@testable import StitchSyncCommand

/// What mongoexport and mongodump write has to come in as a whole, or the gap has to be named.
@Suite struct ImportFormTests {
    /// Imports a file, and tells what the collection holds then.
    private func run(
        _ text: [UInt8], as name: String, _ options: String...
    ) async throws -> (answer: Tool.Answer, found: [String]) {
        try await withTemporaryFolder { folder in
            _ = try folder.write(text, to: name)
            let answer = try await Tool.run(
                arguments: ["import", "s", "d.c", name] + options, in: folder)
            let found = try await Tool.run("find", "s", "d.c", "--relaxed", in: folder)
            return (answer, found.output)
        }
    }

    static let lists = [
        #"[{"_id":1,"a":"]}\"\\"},{"_id":2}]"#,
        "[{\"_id\":1,\"a\":\"]}\\\"\\\\\"},\n{\"_id\":2}]\n",
        "\u{FEFF}\r\n[\r\n {\r\n \"_id\": 1,\r\n \"a\": \"]}\\\"\\\\\" },\r\n {\"_id\": 2}\r\n]\r\n",
    ]

    @Test(arguments: lists)
    func `a list of documents is imported`(_ text: String) async throws {
        let (answer, found) = try await run(Array(text.utf8), as: "in.json")
        #expect(answer.code == 0)
        #expect(answer.complaints == [])
        #expect(found == [#"{"_id":1,"a":"]}\"\\"}"#, #"{"_id":2}"#])
    }

    @Test(arguments: [
        ("[\n{\"_id\":1},\n{\"_id\":2}\n", "in.json:4: rejected: the list does not end"),
        ("[\n{\"_id\":1},\n{\"_id\":2}]\n{}", "in.json:4: rejected: there is text after the list"),
        ("[{\"_id\":1},{\"_id\":2},\n7]", "in.json:2: rejected: an object is expected"),
        ("[{\"_id\":1},{\"_id\":2}\n{}]", "in.json:2: rejected: a comma or the list's end"),
        ("[{\"_id\":1},{\"_id\":2},\n{\"_id\":3", "in.json:2: rejected: the list does not end"),
    ])
    func `a list that is not whole is named with the line`(
        _ text: String, _ complaint: String
    ) async throws {
        let (answer, found) = try await run(Array(text.utf8), as: "in.json")
        #expect(answer.code == 1)
        #expect(answer.complaints.count == 1)
        #expect(answer.complaints.first?.hasPrefix(complaint) == true)
        #expect(found == [#"{"_id":1}"#, #"{"_id":2}"#])
        let strict = try await run(Array(text.utf8), as: "in.json", "--strict")
        #expect(strict.answer.code == 1)
        #expect(strict.found == [])
    }

    private static let documents: [BSONDocument] = [["_id": 1, "a": "x"], ["_id": 2]]
    private static let dump = documents.flatMap(\.bytes)

    @Test func `a dump is imported, by its name or as it is said`() async throws {
        for (name, options) in [("c.bson", [String]()), ("c.dump", ["--bson"])] {
            try await withTemporaryFolder { folder in
                _ = try folder.write(Self.dump, to: name)
                let answer = try await Tool.run(
                    arguments: ["import", "s", "d.c", name] + options, in: folder)
                #expect(answer.output == ["2 documents imported into d.c, 0 documents rejected"])
                let exported = try await Tool.run(
                    "export", "s", "d.c", "--bson", "--out", "again.bson", in: folder)
                #expect(exported.code == 0)
                let again = try await Tool.run("import", "t", "d.c", "again.bson", in: folder)
                #expect(again.code == 0)
                let found = try await Tool.run("find", "t", "d.c", "--relaxed", in: folder)
                #expect(found.output == [#"{"_id":1,"a":"x"}"#, #"{"_id":2}"#])
            }
        }
    }

    @Test(arguments: [
        (dump + [9, 0], "c.bson: document 3: rejected: the file ends inside this document"),
        (
            dump + [9, 0, 0, 0, 16],
            "c.bson: document 3: rejected: the file ends inside this document"
        ),
        (dump + [1, 0, 0, 0], "c.bson: document 3: rejected: no BSON document begins at byte"),
        (dump + [0, 0, 0, 200], "c.bson: document 3: rejected: no BSON document begins at byte"),
        (dump + [5, 0, 0, 0, 1], "c.bson: document 3: rejected: "),
    ])
    func `a dump that is not whole is named with the document`(
        _ bytes: [UInt8], _ complaint: String
    ) async throws {
        let (answer, found) = try await run(bytes, as: "c.bson")
        #expect(answer.code == 1)
        #expect(answer.complaints.count == 1)
        #expect(answer.complaints.first?.hasPrefix(complaint) == true)
        #expect(found == [#"{"_id":1,"a":"x"}"#, #"{"_id":2}"#])
    }
}
