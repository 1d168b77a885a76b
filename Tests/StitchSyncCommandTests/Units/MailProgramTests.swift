#if CommandLine && Server
    import BSONStore
    import Foundation
    import StitchServer
    import Testing

    @testable import StitchSyncCommand

    /// A program that hangs, or does not read, must not keep the server from sending other tokens.
    @Suite(.timeLimit(.minutes(5))) struct MailProgramTests {
        private static let message = PasswordMail.Message(
            user: "ann \"é\"", database: "app", token: "secret",
            expires: BSONDatetime(milliseconds: 1_000))

        private static func shell(
            _ script: String, limit: Duration = .seconds(60)
        ) throws -> String {
            try MailProgram("/bin/sh", arguments: ["-c", script], limit: limit).send(message)
        }

        @Test func `the program reads a line of JSON`() throws {
            let line =
                #"{"user":"ann \"é\"","database":"app","token":"secret","#
                + #""expires":"1970-01-01T00:00:01Z"}"#
            #expect(try Self.shell("cat; echo said >&2") == line + "\nsaid")
        }

        @Test func `a program that does not read is no failure`() throws {
            #expect(try Self.shell("exec <&-; exit 0") == "")
        }

        @Test func `a process that the program leaves behind is not waited for`() throws {
            #expect(try Self.shell("sleep 100 & echo done") == "done")
        }

        @Test(arguments: ["exit 3", "kill -9 $$", "sleep 100", "exec >&- 2>&-; sleep 100"])
        func `a failure and a program without end are errors`(script: String) throws {
            let limit: Duration = script.contains("sleep") ? .milliseconds(200) : .seconds(60)
            let start = ContinuousClock.now
            let error = #expect(throws: CommandError.self) {
                try Self.shell("echo some; " + script, limit: limit)
            }
            #expect(error?.description.contains("some") == true, "\(String(describing: error))")
            #expect(ContinuousClock.now - start < .seconds(50))
        }

        @Test func `long output is cut`() throws {
            let text = try Self.shell("yes | head -c 100000")
            #expect(text.utf8.count <= MailProgram.outputBytesMax && !text.isEmpty)
        }

        @Test func `only an executable file is taken`() {
            #expect(throws: CommandError.self) { try MailProgram("/etc/passwd") }
            #expect(throws: CommandError.self) { try MailProgram("/bin/sh -c true") }
        }
    }
#endif
