extension TidyRule {
    /// Work that is left names the issue that it belongs to.
    static let openWork = TidyRule(
        name: "work that is left is written \(toDo)(#12): what",
        broken: [
            SourceFile("A.swift", "// \(toDo): later\n"), SourceFile("A.md", "\(fixMe)(#1): a\n"),
            SourceFile("Scripts/a", "# \(toDo)(me): b\n"),
        ],
        kept: [
            SourceFile("A.swift", "// \(toDo)(#12): later\n"),
            SourceFile("A.swift", "let mast\(toDo)n = 1\n"),
        ]
    ) { file, _ in
        file.lines.enumerated().compactMap { index, line in
            guard let word = workWord(line) else { return nil }
            return Finding(line: index + 1, message: "\(word) without the number of an issue")
        }
    }

    /// A path of one machine means nothing on another.
    static let machinePaths = TidyRule(
        name: "no path of one machine",
        broken: homes.map { SourceFile("Docs/A.md", "# A\n\nSee \($0)b.\n") },
        kept: [SourceFile("Docs/A.md", "# A\n\nSee framework/root/work and `../shared/a`.\n")]
    ) { file, _ in
        file.lines.enumerated().compactMap { index, line in
            let home = homes.first { home in
                line.ranges(of: home).contains { range in
                    guard range.lowerBound > line.startIndex else { return true }
                    let before = line[line.index(before: range.lowerBound)]
                    return !before.isLetter && !before.isNumber && !"._-/}".contains(before)
                }
            }
            return home.map { Finding(line: index + 1, message: "\($0) is of one machine") }
        }
    }

    // Put together, so that these lines keep the rules that they state.
    private static let toDo = "TO" + "DO"
    private static let fixMe = "FIX" + "ME"
    private static let homes = ["work", "root", "home", "Users", "farm", "tmp/h", "opt/swift"]
        .map { "/\($0)/" }

    /// The first word for work that is left, when the line does not name an issue after it.
    private static func workWord(_ line: Substring) -> String? {
        let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        if words.contains(Substring(fixMe)) { return fixMe }
        for word in words where word == toDo {
            let rest = line[word.endIndex...]
            if rest.prefixMatch(of: /\(#[0-9]+\):/) == nil { return toDo }
        }
        return nil
    }
}
