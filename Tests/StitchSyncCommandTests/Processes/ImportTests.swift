import BSONStore
import Testing

@testable import StitchSyncCommand

/// Foreign files are never clean, and whoever imports one must be told what is missing afterwards.
@Suite struct ImportTests {
    /// A line that must be rejected, and what must be said of it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let line: [UInt8]
        let reason: String

        init(_ name: String, _ line: some Sequence<UInt8>, _ reason: String) {
            testDescription = name
            self.line = Array(line)
            self.reason = reason
        }
    }

    static let faults: [Fault] = [
        Fault("a broken line", "{\"_id\": 1, \"a\":".utf8, "in.jsonl:2: rejected: "),
        Fault("two documents", "{\"_id\": 1} {\"_id\": 2}".utf8, "in.jsonl:2: rejected: "),
        Fault("an array", "[{\"_id\": 1}]".utf8, "in.jsonl:2: rejected: not a JSON object"),
        Fault("a word", "null".utf8, "in.jsonl:2: rejected: not a JSON object"),
        Fault("no _id", "{\"a\": 1}".utf8, "in.jsonl:2: rejected: the document has no _id"),
        Fault(
            "an _id from before", "{\"_id\": {\"$numberLong\": \"7\"}}".utf8,
            "in.jsonl:2: rejected: a document with _id 7 exists already"),
        Fault("an _id that none can be", "{\"_id\": [1]}".utf8, "can't use an array for _id"),
        Fault(
            "invalid UTF-8",
            Array("{\"_id\": 1, \"a\": \"".utf8) + [0xC3, 0x28] + Array("\"}".utf8),
            "in.jsonl:2: rejected: "),
        Fault("a NUL in a key", "{\"_id\": 1, \"a\\u0000b\": 1}".utf8, "in.jsonl:2: rejected: "),
        Fault(
            "17 MB",
            Array("{\"_id\": 1, \"a\": \"".utf8) + [UInt8](repeating: 97, count: 17 << 20)
                + Array("\"}".utf8), "in.jsonl:2: rejected: "),
        Fault(
            "a line without end", [UInt8](repeating: 0x7B, count: LineReader.lineBytesMax + 1),
            "in.jsonl:2: rejected: the line has 67108865 bytes, more than 67108864"),
        Fault(
            "200 levels",
            Array("{\"_id\": 1, \"a\": ".utf8) + [UInt8](repeating: 0x5B, count: 200)
                + [UInt8](repeating: 0x5D, count: 200) + Array("}".utf8), "in.jsonl:2: rejected: "),
        Fault(
            "a wrapper that is none", "{\"_id\": {\"$oid\": \"xyz\"}}".utf8,
            "in.jsonl:2: rejected: "),
    ]

    private func file(with fault: Fault, in folder: TemporaryFolder) throws {
        let before = Array("{\"_id\": 7, \"a\": \"first\"}\n".utf8)
        let after = Array("\n\r\n{\"_id\": \"é\", \"a\": {\"$numberDecimal\": \"1.0\"}}".utf8)
        _ = try folder.write(before + fault.line + after, to: "in.jsonl")
    }

    private func documents(in folder: TemporaryFolder) throws -> [BSONDocument] {
        let store = try DocumentStore(
            at: .file(folder.path("s.stitch")), options: .init(readOnly: true))
        defer { store.close() }
        return try store.read { transaction in
            var documents: [BSONDocument] = []
            try transaction.forEach(Namespace("a", "b")) { documents.append($0) }
            return documents
        }
    }

    @Test(arguments: faults)
    func `a line that is rejected is named, and the rest is imported`(
        _ fault: Fault
    ) async throws {
        try await withTemporaryFolder { folder in
            try file(with: fault, in: folder)
            let answer = try await Tool.run("import", "s.stitch", "a.b", "in.jsonl", in: folder)
            #expect(answer.code == 1)
            #expect(answer.output == ["2 documents imported into a.b, 1 lines rejected"])
            let complaint = answer.complaints.filter { $0.contains("rejected") }
            #expect(complaint.count == 1)
            #expect(complaint.first?.contains(fault.reason) == true)
            #expect(complaint.first?.hasPrefix("in.jsonl:2: rejected: ") == true)
            #expect((complaint.first?.count ?? 0) < 200)
            let documents = try documents(in: folder)
            #expect(documents.first == ["_id": 7, "a": "first"])
            #expect(documents.last?["_id"] == "é")
            #expect(documents.count == 2)
        }
    }

    @Test(arguments: faults)
    func `with --strict nothing is imported when a line is rejected`(
        _ fault: Fault
    ) async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: ["{\"_id\": 0}"], to: "before.jsonl")
            let before = try await Tool.run(
                "import", "s.stitch", "a.b", "before.jsonl", "--strict", in: folder)
            #expect(before.code == 0)
            try file(with: fault, in: folder)
            let answer = try await Tool.run(
                "import", "--strict", "s.stitch", "a.b", "in.jsonl", in: folder)
            #expect(answer.code == 1)
            #expect(answer.output == ["0 documents imported into a.b, 1 lines rejected"])
            #expect(answer.complaints.contains { $0.contains("in.jsonl:2: rejected: ") })
            #expect(try documents(in: folder) == [["_id": 0]])
        }
    }

    @Test func `a duplicate in the file is rejected where it comes the second time`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(
                lines: ["{\"_id\": 1, \"a\": 1}", "{\"_id\": 1.0, \"a\": 2}", "{\"_id\": 2}"],
                to: "in.jsonl")
            let answer = try await Tool.run(
                "import", "s.stitch", "a.b", "-", in: folder, input: "in.jsonl")
            #expect(answer.code == 1)
            #expect(
                answer.complaints.contains(
                    "-:2: rejected: a document with _id 1.0 exists already"))
            #expect(try documents(in: folder) == [["_id": 1, "a": 1], ["_id": 2]])
        }
    }

    @Test func `a byte order mark in front of the file is not part of it`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write([0xEF, 0xBB, 0xBF] + Array("{\"_id\": 1}".utf8), to: "in.jsonl")
            let answer = try await Tool.run("import", "s.stitch", "a.b", "in.jsonl", in: folder)
            #expect(answer.code == 0)
            #expect(try documents(in: folder) == [["_id": 1]])
        }
    }

    @Test func `what cannot be opened is named`() async throws {
        try await withTemporaryFolder { folder in
            let noFile = try await Tool.run("import", "s.stitch", "a.b", "none", in: folder)
            #expect(noFile.code == 1)
            #expect(
                noFile.complaints == ["Error: cannot read none: No such file or directory"])
            _ = try folder.write(lines: ["no store"], to: "text")
            _ = try folder.write(lines: ["{\"_id\": 1}"], to: "in.jsonl")
            let noStore = try await Tool.run("import", "text", "a.b", "in.jsonl", in: folder)
            #expect(noStore.code == 1)
            #expect(noStore.complaints.count == 1)
        }
    }

    @Test func `a wrong command line is refused with code 64`() async throws {
        try await withTemporaryFolder { folder in
            let nothing = try await Tool.run("import", in: folder)
            #expect(nothing.code == 64)
            let name = try await Tool.run("import", "s.stitch", "nodot", "in.jsonl", in: folder)
            #expect(name.code == 64)
            #expect(name.complaints.first?.contains("nodot") == true)
        }
    }
}
