import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchSyncCommand

/// A slip on the command line must not cost anybody a document.
@Suite struct SafeguardTests {
    private let lines = [#"{"_id":1,"name":"pen"}"#, #"{"_id":2,"name":"ink"}"#]

    /// Runs a body with a folder in which the store `a` holds two documents in step with `r`.
    private func withStores(_ body: (TemporaryFolder) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: lines, to: "in.jsonl")
            let imported = try await Tool.run("import", "a", "d.c", "in.jsonl", in: folder)
            #expect(imported.code == 0)
            let synced = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
            #expect(synced.code == 0)
            try await body(folder)
            let kept = try await Tool.run("find", "a", "d.c", "--relaxed", in: folder)
            #expect(kept.output == lines)
        }
    }

    private func isThere(_ name: String, in folder: TemporaryFolder) -> Bool {
        FileManager.default.fileExists(atPath: folder.path(name))
    }

    @Test(arguments: ["a", "./a", "link", "a-sync", "a-wal"])
    func `what is written about a store is not written over it`(_ name: String) async throws {
        try await withStores { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("link"), withDestinationPath: folder.path("a"))
            for command in [["export", "a", "d.c"], ["inspect", "a"]] {
                let answer = try await Tool.run(arguments: command + ["--out", name], in: folder)
                #expect(answer.code == 1)
                #expect(
                    answer.complaints == [
                        "Error: \(name) belongs to the store itself; name another file"
                    ])
            }
        }
    }

    @Test func `an export that fails midway leaves the file of the one before`() async throws {
        try await withStores { folder in
            let old = try folder.write(lines: ["old"], to: "out.jsonl")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("latest"), withDestinationPath: "out.jsonl")
            let divides = #"{"$expr": {"$divide": [1, {"$subtract": ["$_id", 2]}]}}"#
            for out in ["out.jsonl", "latest", "new"] {
                let failed = try await Tool.run(
                    "export", "a", "d.c", divides, "--out", out, in: folder)
                #expect(failed.code == 1)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(!names.contains { $0.hasPrefix("new") || $0.hasSuffix("partial") })
            #expect(try String(contentsOfFile: old, encoding: .utf8) == "old\n")
            let done = try await Tool.run(
                "export", "a", "d.c", "--relaxed", "--out", "latest", in: folder)
            #expect(done.code == 0)
            #expect(
                try String(contentsOfFile: old, encoding: .utf8)
                    == lines.map { $0 + "\n" }.joined())
            let attributes = try FileManager.default.attributesOfItem(atPath: old)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("latest"))
                    == "out.jsonl")
        }
    }

    @Test func `a remote that is not there does not take away what is in step`() async throws {
        try await withStores { folder in
            let answer = try await Tool.run("sync", "a", "d.c", "--remote", "rr", in: folder)
            #expect(answer.code == 1)
            #expect(
                answer.complaints == [
                    "Error: rr: there is no such file, but 2 documents of a are synced with a "
                        + "remote already (check the path)"
                ])
            #expect(!isThere("rr", in: folder))
        }
    }

    @Test(arguments: ["a", "./a"])
    func `a store is not its own remote`(_ remote: String) async throws {
        try await withStores { folder in
            let answer = try await Tool.run("sync", "a", "d.c", "--remote", remote, in: folder)
            #expect(answer.code == 1)
            #expect(answer.complaints == ["Error: a cannot be its own remote"])
        }
    }

    @Test(arguments: [
        (["--remote", "http://x"], "--remote takes a store's file, stitchsync://HOST:PORT or"),
        (["--remote", "n", "--ids", "[1"], "'--ids <ids>': An array continues"),
        (["--remote", "n", "--ids", "1"], "'--ids <ids>': it is not a list"),
        (["--remote", "n", "--filter", "{'a' 1}"], "'--filter <filter>': : is expected"),
        (["--remote", "n", "--filter", "[]"], "'--filter <filter>': it is not a document"),
    ])
    func `a wrong argument of sync is named, and nothing is made`(
        _ arguments: [String], _ complaint: String
    ) async throws {
        try await withStores { folder in
            let answer = try await Tool.run(
                arguments: ["sync", "b", "d.c"] + arguments, in: folder)
            #expect(answer.code == 64)
            #expect(answer.complaints.first?.contains(complaint) == true)
            #expect(!isThere("b", in: folder))
            #expect(!isThere("n", in: folder))
            #expect(!isThere("http:", in: folder))
        }
    }

    @Test(arguments: [
        ["a", "d.c"], ["--db", "a", "--namespace", "d.c"], ["--db", "a", "d.c"],
        ["a", "--namespace", "d.c"],
    ])
    func `store and collection are named by position or by option`(
        _ place: [String]
    ) async throws {
        try await withStores { folder in
            let answer = try await Tool.run(
                arguments: ["sync"] + place + ["--remote", "r"], in: folder)
            #expect(answer.code == 0, "\(answer.complaints)")
        }
    }

    @Test(arguments: [
        (["--db", "a", "b", "d.c"], "name one collection"),
        (["a", "d.c", "--namespace", "d.c"], "name one collection"),
        (["--namespace", "d.c"], "name the store's file"),
    ])
    func `a store or collection that is missing or named twice is told`(
        _ place: [String], _ complaint: String
    ) async throws {
        try await withStores { folder in
            let answer = try await Tool.run(
                arguments: ["sync"] + place + ["--remote", "r"], in: folder)
            #expect(answer.code == 64)
            #expect(answer.complaints.first?.contains(complaint) == true)
            #expect(!isThere("b", in: folder))
        }
    }

    @Test func `a pipeline that writes makes no store`() async throws {
        try await withTemporaryFolder { folder in
            let answer = try await Tool.run(
                "aggregate", "none", "d.c", #"[{"$out": "x"}]"#, in: folder)
            #expect(answer.code == 1)
            #expect(answer.complaints == ["Error: none: there is no such file"])
            #expect(!isThere("none", in: folder))
        }
    }

    @Test(arguments: [
        (["find", "a", "d.c", "{name 1}"], 64, "Extended JSON is expected, such as"),
        (["resume", "a", "d.c", "--ids", "[1"], 64, "'--ids <ids>'"),
        (["diff", "a", "d.c", #"{"x""#], 64, "A colon is missing"),
        (["diff", "a", "d.c", "1", "--remote", "in.jsonl"], 1, "in.jsonl cannot be opened"),
        (["watch", "r", "--after", "0", "--limit", "0"], 64, "--limit is at least 1"),
        (["watch", "a"], 1, "a: The store keeps no change feed"),
        (["export", "a", "d.c", "--out", "/dev/full"], 1, "cannot write /dev/full: No space"),
        (["import", "b", "d.c", "."], 1, "cannot read .: Is a directory"),
        (["aggregate", "a", "d.c", "[1]"], 64, "a stage is not a document: 1"),
    ])
    func `a complaint names what it is about`(
        _ command: [String], _ code: Int, _ complaint: String
    ) async throws {
        try await withStores { folder in
            let answer = try await Tool.run(arguments: command, in: folder)
            #expect(Int(answer.code) == code)
            #expect(answer.complaints.first?.contains(complaint) == true)
        }
    }

    #if Server
        @Test(arguments: ["--port", "--metrics-port"])
        func `a port that none is is refused`(_ option: String) async throws {
            try await withTemporaryFolder { folder in
                let answer = try await Tool.run(
                    "serve", "--db", "s", "\(option)=70000", in: folder)
                #expect(answer.code == 64)
                #expect(
                    answer.complaints.first == "Error: a port is from 0 to 65535, not 70000")
                #expect(!isThere("s", in: folder))
            }
        }

        @Test func `an address that is taken is named`() async throws {
            try await withTemporaryFolder { folder in
                let holder = Process()
                let output = Pipe()
                holder.executableURL = try Program.tool
                holder.arguments = ["serve", "--db", "s", "--port", "0"]
                holder.currentDirectoryURL = folder.url
                (holder.standardOutput, holder.standardError) = (output, FileHandle.nullDevice)
                try holder.run()
                defer { holder.terminate() }
                var lines = LineReader(
                    Descriptor(number: output.fileHandleForReading.fileDescriptor))
                guard case .bytes(let line) = try lines.next()?.content else {
                    Issue.record("the server said nothing")
                    return
                }
                let ready = String(decoding: line, as: UTF8.self)
                #expect(ready.hasSuffix(" (new, empty store)"))
                let address = ready.dropFirst(13).prefix { $0 != " " }
                let port = String(address.split(separator: ":").last ?? "")
                for ports in [["--port", port], ["--port", "0", "--metrics-port", port]] {
                    let answer = try await Tool.run(
                        arguments: ["serve", "--db", "t"] + ports, in: folder)
                    #expect(answer.code == 1)
                    #expect(
                        answer.complaints.contains(
                            "Error: cannot listen on \(address): Address already in use"))
                }
            }
        }
    #endif
}
