extension TidyRule {
    /// A reader can look up each rule that a comment or a message cites by its number.
    static let citations = TidyRule(
        name: "a cited number of a rule is in a table of \(page)",
        broken: [
            SourceFile("Sources/StitchSync/A.swift", "/// Decides the case (rule R1).\n"),
            SourceFile("Tests/SyncSimulation/A.swift", "fail(\"I9 a call waited\")\n"),
            SourceFile("Docs/A.md", "# A\n\nRule L3 holds.\n"),
            SourceFile(page, "# A\n\n| rule | it |\n|---|---|\n| R1 | is |\n\nSee R2.\n"),
            SourceFile(page, "# A\n\n| rule | it |\n|---|---|\n| R1 | is, as R2 |\n"),
            SourceFile("Sources/StitchSync/A.swift", "/// As it should be (section 5.1).\n"),
        ],
        kept: [
            SourceFile(page, "# A\n\n| rule | it |\n|---|---|\n| R1 | is |\n\nSee (R1).\n"),
            SourceFile(page, "# A\n\n| check |\n|---|\n| S1, S6: it is |\n\nSee S1 and S6.\n"),
            SourceFile("Sources/A.swift", "/// Source: RFC 8018, section 5.2.\n"),
            SourceFile("Sources/A.swift", "let R1a = L, aI9 = I_9 + CR1 // R123\n"),
            SourceFile("Sources/BSONStore/Query/Pipelines/Granularity.swift", "[\"R5\": 1]\n"),
        ]
    ) { file, tree in
        guard file.isSwift || file.isMarkdown, !file.isIn(othersNumbers) else { return [] }
        let cited = file.lines.enumerated().map { ($0.offset + 1, numbers(in: $0.element)) }
            .filter { !$0.1.isEmpty }
        let known = cited.isEmpty ? [] : defined(in: tree)
        let unknown = cited.flatMap { line, numbers in
            numbers.filter { !known.contains($0) }.map {
                Finding(line: line, message: "\($0) is in no table of \(page)")
            }
        }
        return unknown + sections(file)
    }

    /// The tables of the rules name what carries them out, leaves them out and tests them.
    static let ruleTables = TidyRule(
        name: "the tables of rules in \(page) name files that exist, and all wrong engines",
        broken: [
            SourceFile(page, "# A\n\n| rule | it | by |\n|---|---|---|\n| R1 | is | `Gone` |\n"),
            SourceFile(page, "# A\n\n| number | it | by |\n|---|---|---|\n| I1 | `a` | `b` |\n"),
        ],
        kept: [
            SourceFile(page, "# A\n\n| rule | it | by |\n|---|---|---|\n| R1 | `is` | `SYNC` |\n"),
            SourceFile(page, "# A\n\n| it | by |\n|---|---|\n| is | `Gone` |\n"),
        ]
    ) { file, tree in
        guard file.path == page else { return [] }
        let files = Set(tree.paths.map(stem))
        let missing = file.lines.enumerated().flatMap { index, line in
            namedFiles(line).filter { !files.contains($0) }.map {
                Finding(line: index + 1, message: "no file is named \($0)")
            }
        }
        let patches = tree.paths.filter {
            $0.hasPrefix("Tests/WrongEngines/") && $0.hasSuffix(".patch")
        }
        let unnamed = patches.map(stem).sorted().filter { !file.text.contains("`\($0)`") }
        return missing
            + unnamed.map {
                Finding(line: 1, message: "the wrong engine \($0) is not on the page")
            }
    }

    private static let page = "Docs/SYNC.md"

    /// Files in which such a name is of others: the series of preferred numbers, Google's S2.
    private static let othersNumbers = [
        "Sources/BSONStore/Query/Pipelines/Granularity.swift",
        "Sources/BSONStore/Query/Filters/Geometry/",
        "Tests/TidyTests/Rules/TidyRule+Citations.swift",
    ]

    /// The numbers in the first cells of the page's tables.
    private static func defined(in tree: SourceTree) -> Set<String> {
        let lines = tree.files.first { $0.path == page }?.lines ?? []
        return Set(lines.flatMap { numbers(in: cells($0).first ?? "") })
    }

    /// The words of a line that are a letter for a kind of rule and one or two digits.
    private static func numbers(in line: Substring) -> [String] {
        let bytes = Array(line.utf8)
        return bytes.indices.compactMap { start in
            guard "RILS".utf8.contains(bytes[start]) else { return nil }
            let digits = bytes[(start + 1)...].prefix { (0x30...0x39).contains($0) }
            let isWord =
                (start == 0 || !isOfName(bytes[start - 1]))
                && (digits.endIndex == bytes.endIndex || !isOfName(bytes[digits.endIndex]))
            guard isWord, (1...2).contains(digits.count) else { return nil }
            return String(decoding: bytes[start..<digits.endIndex], as: UTF8.self)
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x80...0xFF: true
        default: false
        }
    }

    /// Sections of a text that the line does not name.
    private static func sections(_ file: SourceFile) -> [Finding] {
        file.lines.enumerated().compactMap { index, line in
            guard line.contains("section "), !line.contains("RFC"),
                line.contains(/\bsection [0-9]/)
            else { return nil }
            return Finding(line: index + 1, message: "a section of a text that is not named")
        }
    }

    /// The names in code spans of a rule's row, after the sentence that states the rule.
    private static func namedFiles(_ line: Substring) -> [String] {
        let cells = cells(line)
        guard let first = cells.first, numbers(in: first) == [String(first)] else { return [] }
        return cells.dropFirst(2).flatMap { cell in
            cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
    }

    /// The cells of a table's row, without blanks around them; empty for other lines.
    private static func cells(_ line: Substring) -> [Substring] {
        guard line.hasPrefix("|") else { return [] }
        return line.split(separator: "|").map { cell in
            var cell = cell.drop { $0 == " " }
            while cell.last == " " { cell.removeLast() }
            return cell
        }
    }

    /// A path's last component up to its first dot.
    private static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." })
    }
}
