import Testing

/// Without these the rules of CONTRIBUTING would be wishes.
@Suite struct TidyTests {
    @Test(arguments: TidyRule.all)
    func `the repository keeps the rule`(_ rule: TidyRule) throws {
        let tree = try SourceTree.ofRepository.get()
        #expect(tree.files.count > 20)
        let findings = tree.files.flatMap { file in
            rule.check(file, tree).map { "\(file.path):\($0)" }
        }
        guard !findings.isEmpty else { return }
        Issue.record(
            "\(rule.name):\n\(findings.joined(separator: "\n"))",
            severity: rule.isAdvice ? .warning : .error)
    }

    @Test(arguments: TidyRule.all)
    func `the rule finds what breaks it and nothing else`(_ rule: TidyRule) {
        #expect(!rule.broken.isEmpty && !rule.kept.isEmpty)
        for file in rule.broken {
            let findings = rule.check(file, SourceTree(sample: file))
            #expect(!findings.isEmpty, "found nothing in \(file.text)")
        }
        for file in rule.kept {
            let findings = rule.check(file, SourceTree(sample: file))
            #expect(findings.isEmpty, "found \(findings) in \(file.text)")
        }
    }
}
