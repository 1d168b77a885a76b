internal import Foundation

/// Compares texts with the pages that `fixtures` keeps.
package enum GoldenPage {
    /// The first line in which a text differs from a kept page; `nil` when they are equal.
    ///
    /// `GOLDEN_UPDATE=1` writes the page anew first.
    package static func difference(of text: String, from page: String) throws -> String? {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let url = root.appending(path: "fixtures/\(page)")
        if ProcessInfo.processInfo.environment["GOLDEN_UPDATE"] == "1" {
            try Data(text.utf8).write(to: url)
        }
        let kept = try String(contentsOf: url, encoding: .utf8)
        guard kept != text else { return nil }
        let difference = zip(
            kept.split(separator: "\n", omittingEmptySubsequences: false),
            text.split(separator: "\n", omittingEmptySubsequences: false)
        ).first { $0 != $1 }
        return "\(page) differs"
            + (difference.map { ": kept \"\($0)\", now \"\($1)\"" } ?? "")
    }
}
