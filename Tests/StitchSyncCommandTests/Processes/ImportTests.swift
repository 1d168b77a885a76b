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
            #expect(answer.output == ["2 documents imported into a.b, 1 line rejected"])
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
            #expect(answer.output == ["0 documents imported into a.b, 1 line rejected"])
            #expect(answer.complaints.contains { $0.contains("in.jsonl:2: rejected: ") })
            #expect(try documents(in: folder) == [["_id": 0]])
        }
    }

    @Test func `a document without an _id is given an ObjectId in front`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: ["{\"a\": 1}", "{\"a\": 2}"], to: "in.jsonl")
            let answer = try await Tool.run("import", "s.stitch", "a.b", "in.jsonl", in: folder)
            #expect(answer.code == 0)
            #expect(answer.output == ["2 documents imported into a.b, 0 lines rejected"])
            let documents = try documents(in: folder)
            #expect(documents.map { $0["a"] } == [1, 2])
            for document in documents {
                #expect(document.keys.first == "_id")
                guard case .objectID = document["_id"] else {
                    Issue.record("\(document)")
                    continue
                }
            }
        }
    }

    @Test func `of many rejected lines twenty are named, unless all are asked for`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(
                lines: [String](repeating: "7", count: 2_500) + ["{\"_id\": 1}"], to: "in.jsonl")
            let few = try await Tool.run("import", "s.stitch", "a.b", "in.jsonl", in: folder)
            #expect(few.output == ["1 document imported into a.b, 2500 lines rejected"])
            let named = few.complaints.filter { $0.contains(": rejected: ") }
            #expect(named.count == 20)
            #expect(named.last?.hasPrefix("in.jsonl:20: ") == true)
            #expect(few.complaints.last == "and 2480 more rejected; --errors 0 names all")
            let all = try await Tool.run(
                "import", "t.stitch", "a.b", "in.jsonl", "--errors", "0", in: folder)
            #expect(all.complaints.filter { $0.contains(": rejected: ") }.count == 2_500)
            let one = try await Tool.run(
                "import", "u.stitch", "a.b", "in.jsonl", "--errors=-1", in: folder)
            #expect(one.code == 64)
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
            #expect(noStore.complaints.count { $0.hasPrefix("Error: ") } == 1)
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
