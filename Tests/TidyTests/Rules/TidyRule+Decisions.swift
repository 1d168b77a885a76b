extension TidyRule {
    private static let decisions = ["Sources/StitchSync/Decisions/"]

    /// Decisions are tested row by row, which only works while they are functions of their facts.
    static let pureDecisions = TidyRule(
        name: "decisions neither await, throw, read a clock nor reach a store",
        broken: [
            "import Foundation", "func f() async {}", "let a = await b", "func f() throws {}",
            "func f() throws(A) {}", "let a = try b", "let a = Date()", "let a = UUID()",
            "let a: Int = .random(in: 0..<2)", "func f(_ store: DocumentStore) {}",
            "func f(_ transaction: WriteTransaction) {}", "var state = 1",
        ].map { SourceFile("Sources/StitchSync/Decisions/A.swift", $0) },
        kept: [
            SourceFile(
                "Sources/StitchSync/Decisions/A.swift",
                "internal import BSONStore\nenum A { static func f(_ b: BSONDocument) {} }\n"),
            SourceFile("Sources/StitchSync/Engine/A.swift", "let a = try await b\n"),
        ]
    ) { file, _ in
        guard file.isIn(decisions) else { return [] }
        let modules = importedModules(file).filter { $0.module != "BSONStore" }.map {
            Finding(line: $0.line, message: "imports \($0.module)")
        }
        let words = file.tokens.filter { impure.contains($0.text) }.map {
            Finding(line: $0.line, message: "`\($0.text)` belongs to the shell, not to a decision")
        }
        return modules + words + globalVariables(file)
    }

    private static let impure: Set = [
        "async", "await", "throw", "throws", "try", "Task", "Date", "UUID", "random", "shuffled",
        "Clock", "ContinuousClock", "SystemClock", "SuspendingClock", "Locked", "actor",
        "DocumentStore", "DocumentCollection", "ReadTransaction", "WriteTransaction",
        "SQLiteConnection", "RemoteCollection", "FileManager", "ProcessInfo",
    ]

    /// Variables outside of every brace, and static ones anywhere, outlive a decision.
    private static func globalVariables(_ file: SourceFile) -> [Finding] {
        var depth = 0
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            if token.text == "{" { depth += 1 }
            if token.text == "}" { depth -= 1 }
            guard token.text == "var", depth == 0 else { return nil }
            return Finding(line: token.line, message: "a variable outlives the decision")
        }
    }
}
