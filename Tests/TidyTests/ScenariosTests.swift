import Testing

/// Without these the page of scenarios would tell of tests that are gone, or leave a number out.
struct ScenariosTests {
    private struct Row {
        let numbers: [Int]
        let references: [String]
        let applies: Bool
        /// Which of the two lists the numbers are of.
        let isOfDeviceSync: Bool
    }

    private func rows(_ tree: SourceTree) throws -> [Row] {
        let page = try #require(tree.files.first { $0.path == "Docs/SCENARIOS.md" })
        var isOfDeviceSync = false
        return page.lines.compactMap { line in
            if line == "## Device Sync's list" { isOfDeviceSync = true }
            let cells = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
            guard line.hasPrefix("|"), cells.count >= 3 else { return nil }
            let numbers = cells[0].matches(of: /(\d+)(?:-(\d+))?/).flatMap { match -> [Int] in
                guard let first = Int(match.1) else { return [] }
                return Array(first...(match.2.flatMap { Int($0) } ?? first))
            }
            guard !numbers.isEmpty else { return nil }
            return Row(
                numbers: numbers,
                references: cells[2].matches(of: /`([A-Z]\w+(?:\.\w+)?)`/).map { String($0.1) },
                applies: !cells[2].hasPrefix("does not apply"), isOfDeviceSync: isOfDeviceSync)
        }
    }

    @Test func `every number of the ancestors' lists stands on the page once`() throws {
        let rows = try rows(SourceTree.ofRepository.get())
        let stitch = rows.filter { !$0.isOfDeviceSync }.flatMap(\.numbers)
        let deviceSync = rows.filter(\.isOfDeviceSync).flatMap(\.numbers)
        #expect(stitch.sorted() == Array(1...238))
        #expect(deviceSync.sorted() == Array(1...158))
    }

    @Test func `every test that the page names is there`() throws {
        let tree = try SourceTree.ofRepository.get()
        let rows = try rows(tree)
        for row in rows where row.applies { #expect(!row.references.isEmpty, "\(row.numbers)") }
        for reference in Set(rows.flatMap(\.references)) {
            let parts = reference.split(separator: ".")
            let file = tree.files.first {
                $0.path.hasPrefix("Tests/") && $0.path.hasSuffix("/\(parts[0]).swift")
            }
            let text = try #require(file?.text, "\(reference): no such file")
            guard parts.count == 2 else { continue }
            let isTest = try text.contains(Regex(#"@Test[^{}]*func \#(parts[1])\("#))
            #expect(isTest, "\(reference): no such test")
        }
    }
}
