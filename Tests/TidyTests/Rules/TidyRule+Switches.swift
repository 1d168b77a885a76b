extension TidyRule {
    /// Whoever looks for a type's case finds it at the same place in every switch.
    static let switchOrder = TidyRule(
        name: "a switch over BSON types has its cases in the specification's order",
        broken: [
            SourceFile("A.swift", "switch a {\ncase .string: 1\ncase .double: 2\ncase .null: 3\n}"),
            SourceFile("A.swift", "switch a {\ncase .double, .int32, .bool: 1\ncase .int64: 2\n}"),
            SourceFile(
                "A.swift",
                "switch a { case (.string(let b), _): f { 1 }\ncase (.double, _): 2\ndefault: 3 }"),
        ],
        kept: [
            SourceFile(
                "A.swift",
                """
                switch a {
                case .double(let b) where b.isNaN: 1
                case .double: switch c { case .x: 1 }
                case .string, .symbol: 2
                case .document, .array: 3
                }
                """),
            SourceFile("A.swift", "switch token { case .string: 1\ncase .number: 2 }"),
            SourceFile("A.swift", "switch (a, b) { case (.null, .double): 1\ndefault: 2 }"),
        ]
    ) { file, _ in
        file.tokens.indices.compactMap { index in
            guard file.tokens[index].text == "switch" else { return nil }
            return disorder(clauses(file.tokens, ofSwitchAt: index)).map {
                Finding(line: file.tokens[index].line, message: "`.\($0)` stands out of order")
            }
        }
    }

    /// Source: BSON specification 1.1, the order of the production `element`.
    private static let specificationOrder = [
        "double", "string", "document", "array", "binary", "undefined", "objectID", "bool",
        "datetime", "null", "regularExpression", "dbPointer", "javascript", "symbol",
        "javascriptWithScope", "int32", "timestamp", "int64", "decimal128", "minKey", "maxKey",
    ]

    /// The first name that comes too late, where all names are those of BSON types.
    private static func disorder(_ clauses: [[String]]) -> String? {
        let names = clauses.flatMap { $0 }
        guard Set(names).count > 1, names.allSatisfy(specificationOrder.contains) else {
            return nil
        }
        // Within a clause the names rise, and the clauses rise by their first names.
        for list in clauses + [clauses.compactMap(\.first)] {
            let places = list.compactMap { specificationOrder.firstIndex(of: $0) }
            for (index, pair) in zip(places, places.dropFirst()).enumerated() where pair.0 > pair.1
            {
                return list[index + 1]
            }
        }
        return nil
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
