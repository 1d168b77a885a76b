import Foundation
import TestProcesses
import Testing

/// A loop that asks its budget too rarely must fail `make gaps`, or it is found by a server that does not
/// end.
struct GapListTests {
    private static let log = """
        gap 2500 us
        /a/stitchsync(bsonstore_note_gap+0x10) [0x1]
        /a/stitchsync(endAllSessions+0x20) [0x2]
        /a/stitchsync(main+0x20) [0x2]

        """

    @Test(
        "A gap above a millisecond fails unless it is listed with a reason",
        arguments: [
            ("", "", 0, "0 gaps"), (log, "", 1, "NOT LISTED"), (log, "# a note\n\n", 1, "main"),
            (log, "endAllSessions -- it is one call of C\n", 0, "it is one call of C"),
            (log, "someLoop -- another one\n", 1, "1 places"),
            ("", "endAllSessions\n", 1, "no reason"),
        ])
    func listed(log: String, known: String, code: Int32, text: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gaps-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (gaps, reasons) = (folder.appending(path: "gaps"), folder.appending(path: "known"))
        try Data(log.utf8).write(to: gaps)
        try Data(known.utf8).write(to: reasons)
        let script = Python.folder.appending(path: "Scripts/gaps.py").path
        let answer = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["python3", script, gaps.path, reasons.path],
            limit: .seconds(120))
        try removeFolder(atPath: folder.path)
        #expect(answer.code == code && answer.output.contains(text), "\(answer.output)")
    }

    @Test("The gaps that are listed have reasons")
    func reasons() throws {
        let list = Python.folder.appending(path: "Scripts/gaps-known.txt")
        for line in try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
        where !line.hasPrefix("#") {
            #expect(line.contains(" -- "), "\(line)")
        }
    }
}
