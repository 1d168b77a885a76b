import Testing

/// Holds a rule on the form of the repository, with files that break it and files that keep it.
struct TidyRule: Sendable, CustomTestStringConvertible {
    /// Where a rule is broken, and how.
    struct Finding: Sendable, CustomStringConvertible {
        /// The line, counted from 1.
        let line: Int
        /// What is wrong and what to do instead.
        let message: String

        var description: String { "\(line): \(message)" }
    }

    /// What holds, as a sentence.
    let name: String
    /// Made-up files in which the rule must find something.
    let broken: [SourceFile]
    /// Made-up files in which it must find nothing.
    let kept: [SourceFile]
    /// Looks at one file of a tree.
    let check: @Sendable (SourceFile, SourceTree) -> [Finding]
    /// Whether a finding is only advice: the test prints it as a warning and passes.
    var isAdvice = false

    var testDescription: String { name }

    /// All rules.
    static let all: [TidyRule] =
        sizes + imports + words
        + [
            pureDecisions, openWork, machinePaths, documents, switchOrder, nameKeys, byteFunctions,
            citations,
            ruleTables,
        ]
}
