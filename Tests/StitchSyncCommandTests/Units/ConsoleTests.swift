import Testing

@testable import StitchSyncCommand

/// What people see is the only interface that the demo has.
@Suite struct ConsoleTests {
    @Test func `columns are as wide as their widest cell`() {
        var table = TextTable(["", "A", "remote"])
        table.append(["documents", "2400", "2400"])
        table.append(["Łódź", "1"])
        #expect(
            table.lines == [
                "              A  remote", "-----------------------",
                "documents  2400    2400", "Łódź          1",
            ])
    }

    @Test func `progress is a bar on a terminal and a plain line elsewhere`() {
        #expect(
            ProgressBar.line("A sends", "documents", 30, of: 60, isTerminal: true)
                == "A sends ███████████████░░░░░░░░░░░░░░░ 50 % (30 of 60 documents)")
        #expect(
            ProgressBar.line("A sends", "documents", 30, of: 60, isTerminal: false)
                == "A sends 50 % (30 of 60 documents)")
        #expect(
            ProgressBar.line("A reads", "lines", 7, of: nil, isTerminal: false) == "A reads 7 lines"
        )
        #expect(
            ProgressBar.line("A reads", "lines", 0, of: 0, isTerminal: false)
                == "A reads 100 % (0 of 0 lines)")
    }

    @Test func `progress beyond a total that was a guess goes on counting`() async throws {
        let text = try await withTemporaryFolder { folder in
            try folder.writing("progress") { (descriptor) throws(CommandError) in
                var bar = ProgressBar("a", unit: "b", total: 2, on: descriptor)
                for done in [1, 3, 40_000, 40_007] { try bar.show(done) }
                try bar.finish()
            }
        }
        #expect(text == "a 50 % (1 of 2 b)\na 3 b\na 40000 b\na 40007 b\n")
    }

    @Test func `plain progress has a line for each tenth and no more`() async throws {
        let text = try await withTemporaryFolder { folder in
            try folder.writing("progress") { (descriptor) throws(CommandError) in
                var bar = ProgressBar("a", unit: "b", total: 1000, on: descriptor)
                for done in 0...1000 { try bar.show(done) }
                try bar.finish()
            }
        }
        #expect(text.split(separator: "\n").count == 10)
        #expect(text.hasSuffix("a 100 % (1000 of 1000 b)\n"))
    }
}
