import Foundation
import Testing

/// The tables of `Docs/QUERIES.md`: operators by section.
struct QueriesPage {
    /// Those that are supported, or refused with an error of their own.
    private(set) var known: [String: Set<String>] = [:]
    /// Those that are unknown operators here.
    private(set) var unknown: [String: Set<String>] = [:]

    init() throws {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "Docs/QUERIES.md"), encoding: .utf8)
        var section = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("## ") || line.hasPrefix("### ") {
                section = line.drop { $0 == "#" || $0 == " " }.description
            }
            guard line.hasPrefix("| `") else { continue }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            let state = cells[2].trimmingCharacters(in: .whitespaces)
            #expect(["yes", "refused", "no"].contains(state), "\(line)")
            let names = cells[1].split(separator: ",").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
            }
            for name in names {
                let isNew =
                    state == "no"
                    ? unknown[section, default: []].insert(name).inserted
                    : known[section, default: []].insert(name).inserted
                #expect(isNew, "\(name) stands twice under \(section)")
            }
        }
    }
}
