extension TidyRule {
    /// A document has one title, on its first line, and its relative links lead somewhere.
    static let documents = TidyRule(
        name: "a document begins with its one title, and its links resolve",
        broken: [
            SourceFile("Docs/A.md", "No title.\n"), SourceFile("Docs/A.md", "# A\n\n# B\n"),
            SourceFile("Docs/A.md", "## A\n"), SourceFile("Docs/A.md", "# A\n\n[b](B.md)\n"),
            SourceFile("Docs/A.md", "# A\n\n[b](#nowhere)\n"),
            SourceFile("Docs/A.md", "# A\n\n![b](b.png)\n"),
            SourceFile("Docs/A.md", "# A\n\n[b]: ../B.md\n"),
            SourceFile("Docs/A.md", "# A\n\n[b](../../A.md)\n"),
        ],
        kept: [
            SourceFile("Docs/A.md", "# A\n\n```sh\n# not a title, [b](B.md)\n```\n\n## B c\n"),
            SourceFile("Docs/A.md", "# A b: `c`\n\n[b](A.md), [c](https://d.e), [f](#a-b-c)\n"),
            SourceFile("Docs/A.md", "# A\n\nSee `[b](B.md)` and [c](../Docs/A.md).\n"),
        ]
    ) { file, tree in
        guard file.isMarkdown else { return [] }
        let lines = prose(file)
        return titles(lines) + links(lines, of: file, in: tree)
    }

    /// The lines outside of fences, without code spans; the others empty.
    private static func prose(_ file: SourceFile) -> [String] {
        var isFenced = false
        return file.lines.map { line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isFenced.toggle()
                return ""
            }
            guard !isFenced else { return "" }
            // A heading keeps its code, since its anchor does.
            return String(line.hasPrefix("#") ? line : line.replacing(/`[^`]*`/, with: ""))
        }
    }

    private static func titles(_ lines: [String]) -> [Finding] {
        let titles = lines.indices.filter { lines[$0].hasPrefix("# ") }
        if titles == [0] { return [] }
        return [
            Finding(
                line: (titles.last ?? 0) + 1, message: "\(titles.count) titles, not one at the top")
        ]
    }

    private static func links(
        _ lines: [String], of file: SourceFile, in tree: SourceTree
    ) -> [Finding] {
        let anchors = Set(lines.filter { $0.hasPrefix("#") }.map(anchor))
        return lines.indices.flatMap { index in
            targets(lines[index]).compactMap { target in
                if target.contains("://") || target.hasPrefix("mailto:") { return nil }
                let parts = target.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let leads =
                    parts[0].isEmpty
                    ? parts.count == 2 && anchors.contains(String(parts[1]))
                    : resolve(String(parts[0]), from: file.path).map(tree.paths.contains) ?? false
                guard !leads else { return nil }
                return Finding(line: index + 1, message: "\(target) leads nowhere")
            }
        }
    }

    private static func targets(_ line: String) -> [String] {
        let inline = line.matches(of: /\]\(([^)\s]+)[^)]*\)/).map { String($0.output.1) }
        let defined = line.matches(of: /^\[[^\]]+\]:\s*(\S+)/).map { String($0.output.1) }
        return inline + defined
    }

    /// A heading as the part of a link after `#`, the way GitHub makes it.
    private static func anchor(_ heading: String) -> String {
        let text = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
        return String(
            text.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil }
        )
    }

    /// A relative path from the repository's root; `nil` when it leaves the repository.
    private static func resolve(_ target: String, from path: String) -> String? {
        var parts = path.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(String(part))
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.joined(separator: "/")
    }
}
