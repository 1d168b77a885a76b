#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these a person would know what failed, but not what to do.
    @Suite struct AdviceTests {
        private static func complaints(
            _ arguments: String..., in folder: TemporaryFolder, code: Int32 = 1
        ) async throws -> String {
            let answer = try await Tool.run(arguments: arguments, in: folder)
            #expect(answer.code == code, "\(arguments) \(answer.complaints)")
            return answer.complaints.joined(separator: "\n")
        }

        @Test func `the nearest command and option are named`() async throws {
            try await withTemporaryFolder { folder in
                let command = try await Self.complaints("cuont", "s", "d.c", in: folder, code: 64)
                #expect(
                    command.contains("unknown command 'cuont'; did you mean `stitchsync count`?"))
                let nested = try await Self.complaints("user", "lst", "s", in: folder, code: 64)
                #expect(nested.contains("did you mean `stitchsync user list`?"))
                let far = try await Self.complaints("frobnicate", in: folder, code: 64)
                #expect(far.contains("`stitchsync --help` lists the commands"))
                let option = try await Self.complaints(
                    "count", "s", "d.c", "--jsno", in: folder, code: 64)
                #expect(option.contains("Did you mean '--json'?"))
            }
        }

        @Test func `files that are no stores are told apart`() async throws {
            try await withTemporaryFolder { folder in
                let folders = try await Self.complaints("find", "/", "d.c", in: folder)
                #expect(folders.contains("/ is a folder; name the store's file in it"))
                _ = try folder.write(
                    lines: [String](repeating: "neither a store nor JSON", count: 100), to: "e")
                let other = try await Self.complaints("find", "e", "d.c", in: folder)
                #expect(other.contains("Hint: the file is not a store, or it is encrypted"))
            }
        }

        @Test func `a synced collection is not dropped, and the way is named`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Tool.run("insert", "s", "d.c", "{_id: 1}", in: folder)
                _ = try await Tool.run("sync", "s", "d.c", "--remote", "r", in: folder)
                for name in ["d.c", "d"] {
                    let refusal = try await Self.complaints(
                        "drop", "s", name, "--yes", in: folder)
                    #expect(refusal.contains("`stitchsync delete s d.c '{}' --many` and sync"))
                }
            }
        }

        @Test func `a server that is another one, or none, is explained`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    let place = "127.0.0.1:\(server.port)"
                    let port = try await Self.complaints(
                        "serve", "--port", "\(server.port)", in: folder)
                    #expect(port.contains("Hint: another process has the port"))
                    let secure = try await Self.complaints(
                        "count", "mongodb://\(place)/?tls=true&serverSelectionTimeoutMS=300",
                        "d.c", in: folder)
                    #expect(secure.contains("?tlsCAFile=FILE"), "\(secure)")
                    let database = try await Self.complaints(
                        "adduser", "stitchsync://\(place)/shop", "ann", in: folder, code: 64)
                    #expect(database.contains("stitchsync user add … --database shop"))
                }
                let nothing = try await Self.complaints(
                    "count", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300", "d.c",
                    in: folder)
                #expect(nothing.contains("Hint: nothing listens there"), "\(nothing)")
            }
        }
    }
#endif
