#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these a person would lose lines, or the shell with each Ctrl-C.
    @Suite(.timeLimit(.minutes(2))) struct ShellTerminalTests {
        @Test func `lines are edited, completed and remembered`() async throws {
            try await withTemporaryFolder { folder in
                let first = try TerminalProcess("shell", "shop.stitch", in: folder)
                try await first.expect("test> ")
                first.type("db.products.insertOne({ _id: 1, stock: 55 }).insertedIdx\u{7f}\r")
                try await first.expect("\n1")
                try await first.expect("test> ")
                first.type("db.pro\t")
                try await first.expect("ducts")
                first.type(".findO\t\t")
                try await first.expect("findOneAndUpdate")
                first.type("({ sto\t: 55 })\u{01}\u{0b}\u{19}\r")
                try await first.expect("\n{ _id: 1, stock: 55 }")
                try await first.expect("test> ")
                first.type("db.products.find({ sto\t: 55 })\r")
                try await first.expect("[ { _id: 1, stock: 55 } ]")
                try await first.expect("test> ")
                first.type("[1,\r")
                try await first.expect("... ")
                first.type("2].length * 50\r")
                try await first.expect("100")
                try await first.expect("test> ")
                first.type("'pwd' + 'hidden'\r")
                try await first.expect("pwdhidden")
                try await first.expect("test> ")
                first.type("half a line\u{03}")
                try await first.expect("^C")
                try await first.expect("test> ")
                first.type("\u{04}")
                #expect(await first.code() == 0)
                let path = folder.path(".stitchsync_history")
                let kept = try String(contentsOfFile: path, encoding: .utf8)
                #expect(kept.contains("db.products.find({ stock: 55 })\n[1,\n2].length * 50\n"))
                #expect(!kept.contains("pwd"))
                let mode = try FileManager.default.attributesOfItem(atPath: path)
                #expect(mode[.posixPermissions] as? Int == 0o600)
                let second = try TerminalProcess("shell", "shop.stitch", in: folder)
                try await second.expect("test> ")
                second.type("\u{1b}[A\u{1b}[Avar a = \u{0b}\u{12}find(\r\r")
                try await second.expect("[ { _id: 1, stock: 55 } ]")
                try await second.expect("test> ")
                second.type("exit\r")
                #expect(await second.code() == 0)
            }
        }

        @Test func `values have colors at a terminal only, and none by NO_COLOR`() async throws {
            try await withTemporaryFolder { folder in
                let id = String(repeating: "a", count: 24)
                let line = "({ n: 1, s: 'a', d: null, i: ObjectId('\(id)') })"
                let terminal = try TerminalProcess(
                    "shell", "shop.stitch", in: folder, isColoured: true)
                try await terminal.expect("test> ")
                terminal.type(line + "\r")
                let (string, number, end) = ("\u{1b}[32m", "\u{1b}[33m", "\u{1b}[39m")
                try await terminal.expect("n: \(number)1\(end), s: \(string)'a'\(end)")
                try await terminal.expect("d: \u{1b}[1mnull\u{1b}[22m, i: ObjectId(\(string)'aaaa")
                try await terminal.expect("test> ")
                // Twenty-seven short numbers are set in columns, whatever their colors.
                terminal.type("Array(27).fill(5)\r")
                let row = Array(repeating: "\(number)5\(end)", count: 8).joined(separator: ", ")
                try await terminal.expect("\n  \(row),")
                try await terminal.expect("test> ")
                terminal.type("nope()\r")
                try await terminal.expect("\u{1b}[31mReferenceError\u{1b}[0m: ")
                terminal.type("exit\r")
                #expect(await terminal.code() == 0)
                let plain = try TerminalProcess(
                    "shell", "shop.stitch", "--no-color", in: folder, isColoured: true)
                try await plain.expect("test> ")
                plain.type(line + "\r")
                try await plain.expect("{ n: 1, s: 'a', d: null")
                plain.type("exit\r")
                #expect(await plain.code() == 0)
                let piped = try await Tool.run(
                    "shell", "shop.stitch", "--eval", "({ n: 1 })", in: folder)
                #expect(piped.output == ["{ n: 1 }"])
                let forced = try await Tool.run(
                    "shell", "shop.stitch", "--color", "always", "--eval", "({ n: 1 })", in: folder)
                #expect(forced.output == ["{ n: \(number)1\(end) }"])
            }
        }

        @Test func `Ctrl-C ends an evaluation and not the shell`() async throws {
            try await withTemporaryFolder { folder in
                let terminal = try TerminalProcess("shell", "shop.stitch", in: folder)
                for endless in ["while (true) {}", "sleep(1e9)"] {
                    try await terminal.expect("test> ")
                    terminal.type("print('on', 'it'); \(endless)\r")
                    try await terminal.expect("on it")
                    terminal.interrupt()
                    try await terminal.expect("MongoshInterruptedError")
                }
                try await terminal.expect("test> ")
                terminal.type("quit(3)\r")
                #expect(await terminal.code() == 3)
            }
        }

        @Test func `Ctrl-C ends the wait for a server`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    let terminal = try TerminalProcess("shell", uri, in: folder)
                    try await terminal.expect("test> ")
                    terminal.type("db.c.insertOne({ a: 1 }).acknowledged\r")
                    try await terminal.expect("true")
                    try await terminal.expect("test> ")
                    terminal.type(
                        "print('on', 'it'); db.c.find({ $where: 'while (true) {}' }).toArray()\r")
                    try await terminal.expect("on it")
                    terminal.interrupt()
                    try await terminal.expect("MongoshInterruptedError")
                    try await terminal.expect("test> ")
                    // The server ends the command, too.
                    terminal.type("while (db.currentOp().inprog.some(o => o.command?.find)) {}\r")
                    try await terminal.expect("test> ")
                    terminal.type("db.c.countDocuments() + '!'\r")
                    try await terminal.expect("1!")
                    terminal.type("exit\r")
                    #expect(await terminal.code() == 0)
                }
            }
        }
    }
#endif
