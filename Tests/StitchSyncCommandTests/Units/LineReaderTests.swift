import Testing

@testable import StitchSyncCommand

/// A line that is cut wrongly is a document that is rejected, or worse, another document.
@Suite struct LineReaderTests {
    private func lines(
        of text: String, lineBytesMax: Int = 100, chunkBytes: Int
    ) async throws -> [LineReader.Line] {
        try await withTemporaryFolder { folder in
            let path = try folder.write(Array(text.utf8), to: "lines")
            let descriptor = try Descriptor.reading(path)
            defer { descriptor.close() }
            var reader = LineReader(
                descriptor, lineBytesMax: lineBytesMax, chunkBytes: chunkBytes)
            var lines: [LineReader.Line] = []
            while let line = try reader.next() { lines.append(line) }
            #expect(reader.byteCount == text.utf8.count)
            return lines
        }
    }

    @Test(arguments: [1, 2, 3, 5, 1000])
    func `lines are the same whatever the size of the chunks`(_ chunkBytes: Int) async throws {
        let found = try await lines(of: "ab\n\ncd\r\nlast", chunkBytes: chunkBytes)
        #expect(found.map(\.number) == [1, 2, 3, 4])
        #expect(
            found.map(\.content)
                == ["ab", "", "cd\r", "last"].map { .bytes(Array($0.utf8)) })
    }

    @Test(arguments: ["", "\n"])
    func `an empty file has no line and a line end alone has one`(_ text: String) async throws {
        #expect(try await lines(of: text, chunkBytes: 4).count == text.count)
    }

    @Test(arguments: [1, 3, 1000])
    func `a line that is too long is measured, and the next is whole`(
        _ chunkBytes: Int
    ) async throws {
        let found = try await lines(
            of: "abcd\nabcdefgh\nabcd\nxxxxx", lineBytesMax: 4, chunkBytes: chunkBytes)
        #expect(
            found.map(\.content) == [
                .bytes(Array("abcd".utf8)), .tooLong(byteCount: 8), .bytes(Array("abcd".utf8)),
                .tooLong(byteCount: 5),
            ])
    }

    @Test func `a file that is not there is named`() throws {
        let error = #expect(throws: CommandError.self) { try Descriptor.reading("no/such/file") }
        #expect(error?.description == "cannot read no/such/file: No such file or directory")
    }
}
