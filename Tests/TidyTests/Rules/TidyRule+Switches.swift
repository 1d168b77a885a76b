extension TidyRule {
    /// Whoever looks for a type's case finds it at the same place in every switch that gives most
    /// types a case of their own.
    static let switchOrder = TidyRule(
        name: "a switch over BSON types has its cases in the specification's order",
        broken: [
            SourceFile("A.swift", "switch a { \(cases("string", "double", most)) }"),
            SourceFile("A.swift", "switch a { \(cases(most, "double")) }"),
            SourceFile(
                "A.swift",
                "switch a { case (.string(let b), _): f { 1 }\ncase (.double, _): 2\n"
                    + "\(cases(most)) default: 3 }"),
        ],
        kept: [
            SourceFile(
                "A.swift",
                """
                switch a {
                case .double(let b) where b.isNaN: 1
                case .double: switch c { case .x: 1 }
                case .string, .symbol: 2
                \(cases(most))
                case .double, .string: 3
                }
                """),
            SourceFile("A.swift", "switch a { case .int32: 1\ncase .double: 2\ndefault: 3 }"),
            SourceFile("A.swift", "switch token { \(cases(most, "number", "double")) }"),
            SourceFile("A.swift", "switch (a, b) { case (.null, .double): 1\ndefault: 2 }"),
            SourceFile(ownOrder[0], "switch a { \(cases(most, "double")) }"),
        ]
    ) { file, _ in
        guard !file.isIn(ownOrder) else { return [] }
        return file.tokens.indices.compactMap { index in
            guard file.tokens[index].text == "switch" else { return nil }
            return disorder(clauses(file.tokens, ofSwitchAt: index)).map {
                Finding(line: file.tokens[index].line, message: "`.\($0)` stands out of order")
            }
        }
    }

    /// Has MongoDB's comparison order to tell, which is another.
    private static let ownOrder = ["Sources/BSONStore/Core/Values/BSONOrder.swift"]
    private static let clausesMin = 8
    private static let most = "document array binary objectID bool datetime null int64"

    /// Clauses for names that are separated by blanks.
    private static func cases(_ names: String...) -> String {
        names.flatMap { $0.split(separator: " ") }.map { "case .\($0): 1\n" }.joined()
    }

    /// Source: BSON specification 1.1, the order of the production `element`.
    private static let specificationOrder = [
        "double", "string", "document", "array", "binary", "undefined", "objectID", "bool",
        "datetime", "null", "regularExpression", "dbPointer", "javascript", "symbol",
        "javascriptWithScope", "int32", "timestamp", "int64", "decimal128", "minKey", "maxKey",
    ]

    /// The first name that comes too late, where all names are those of BSON types.
    private static func disorder(_ clauses: [[String]]) -> String? {
        var clauses = clauses
        guard clauses.joined().allSatisfy(specificationOrder.contains) else { return nil }
        // A last clause of several names is that of the rest.
        if let last = clauses.last, last.count > 1 { clauses.removeLast() }
        guard clauses.count >= clausesMin else { return nil }
        let names = clauses.compactMap(\.first)
        let places = names.compactMap { specificationOrder.firstIndex(of: $0) }
        let late = zip(places, places.dropFirst()).enumerated().first {
            $0.element.0 > $0.element.1
        }
        return late.map { names[$0.offset + 1] }
    }

    /// The names after the dots of each clause of a switch, of a tuple's first part only.
    private static func clauses(_ tokens: [SwiftToken], ofSwitchAt start: Int) -> [[String]] {
        guard let open = tokens[start...].firstIndex(where: { $0.text == "{" }) else { return [] }
        let close = SwiftFunction.closingBrace(tokens, from: open)
        var depth = 0
        var clauses: [[String]] = []
        for index in open..<close {
            if tokens[index].text == "{" { depth += 1 }
            if tokens[index].text == "}" { depth -= 1 }
            if depth == 1, tokens[index].text == "case" {
                clauses.append(names(tokens[(index + 1)..<close]))
            }
        }
        return clauses
    }

    private static func names(_ tokens: ArraySlice<SwiftToken>) -> [String] {
        var names: [String] = []
        var depth = 0
        var isFirst = true
        var isPart = false
        for token in tokens {
            switch token.text {
            case ":" where depth == 0: return names
            case "where" where depth == 0: return names
            case "(":
                depth += 1
                // A parenthesis that opens the pattern is a tuple; its first part counts.
                if isFirst, depth == 1 { isPart = true }
                continue
            case ")": depth -= 1
            case ",": isFirst = depth == 0
            case ".": break
            default:
                if isFirst, depth == 0 || (isPart && depth == 1) { names.append(token.text) }
                isFirst = false
                isPart = false
            }
        }
        return names
    }
}
