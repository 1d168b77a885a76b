import Foundation
import Testing

/// Compares a text with a kept page; `GOLDEN_UPDATE=1` writes the page anew.
func expectGolden(
    _ page: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    let url = root.appending(path: "fixtures/\(page)")
    if ProcessInfo.processInfo.environment["GOLDEN_UPDATE"] == "1" {
        try Data(text.utf8).write(to: url)
    }
    let kept = try String(contentsOf: url, encoding: .utf8)
    let difference = zip(
        kept.split(separator: "\n", omittingEmptySubsequences: false),
        text.split(separator: "\n", omittingEmptySubsequences: false)
    ).first { $0 != $1 }
    #expect(
        kept == text,
        "\(page) differs\(difference.map { ": kept \"\($0)\", now \"\($1)\"" } ?? "")",
        sourceLocation: sourceLocation)
}
