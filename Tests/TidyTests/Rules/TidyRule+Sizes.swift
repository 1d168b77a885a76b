extension TidyRule {
    /// The usual sizes of a file and a function: a sign of health, not a law.
    static let sizes: [TidyRule] = [fileSize, functionSize].map { rule in
        var advice = rule
        advice.isAdvice = true
        return advice
    }

    private static let fileLinesMax = 400
    private static let functionLinesMax = 60

    private static let fileSize = TidyRule(
        name: "a file has at most \(fileLinesMax) lines",
        broken: [SourceFile("Sources/A.swift", String(repeating: "\n", count: fileLinesMax + 1))],
        kept: [SourceFile("Sources/A.swift", String(repeating: "\n", count: fileLinesMax))]
    ) { file, _ in
        let count = file.text.hasSuffix("\n") ? file.lines.count - 1 : file.lines.count
        guard count > fileLinesMax, !file.isMarkdown else { return [] }
        return [Finding(line: count, message: "\(count) lines; divide it by noun or aspect")]
    }

    private static let functionSize = TidyRule(
        name: "a function has at most \(functionLinesMax) lines",
        broken: [
            SourceFile("A.swift", "struct A {\n func f(a: () -> Void = {})\(bodyTooLong)}"),
            SourceFile("A.swift", "struct A { init()\(bodyTooLong)}"),
            SourceFile("A.swift", "struct A { var a: Int\(bodyTooLong)}"),
        ],
        kept: [
            SourceFile("A.swift", "func f() {\(String(repeating: "\n", count: 59))}"),
            SourceFile("A.swift", "protocol A {\n func f()\n}\nstruct B\(bodyTooLong)"),
            SourceFile("A.swift", "struct A {\n var a = 1\n var b: Int\n struct C\(bodyTooLong)}"),
        ]
    ) { file, _ in
        SwiftFunction.functions(of: file).compactMap { function in
            guard function.lineCount > functionLinesMax else { return nil }
            return Finding(
                line: function.line, message: "\(function.name) has \(function.lineCount) lines")
        }
    }

    private static let bodyTooLong = " {\(String(repeating: "\n", count: 60))}"
}
