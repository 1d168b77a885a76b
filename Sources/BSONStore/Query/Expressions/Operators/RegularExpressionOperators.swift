/// Operators that match texts with regular expressions.
enum RegularExpressionOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$regexMatch": search { search throws(StoreError) in
            guard let search else { return .bool(false) }
            return .bool(search.isFound)
        },
        "$regexFind": search { search throws(StoreError) in
            guard let search else { return .null }
            return search.first ?? .null
        },
        "$regexFindAll": search { search throws(StoreError) in
            guard let search else { return .array(BSONArray()) }
            return try ExpressionLimits.array(search.all)
        },
    ]

    private static func search(
        _ body: @escaping @Sendable (RegexSearch?) throws(StoreError) -> BSONValue
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let arguments = try ExpressionArguments(
                argument, ["input", "regex", "options"],
                notDocument: .location(
                    51103,
                    "\(name) expects an object of named arguments but found: "
                        + ExpressionText.type(of: argument))
            ) { .location(31024, "\(name) found an unknown argument: \($0)") }
            let nodes = [
                try arguments.operand(
                    "input", &parser,
                    missing: .location(31022, "\(name) requires 'input' parameter")),
                try arguments.operand(
                    "regex", &parser,
                    missing: .location(31023, "\(name) requires 'regex' parameter")),
                try arguments.operand("options", &parser, default: .null),
            ]
            // A constant pattern is compiled once.
            var known: CompiledRegex??
            if case .constant(let regex) = nodes[1], case .constant(let options) = nodes[2] {
                known = .some(try RegexSearch.pattern(name, regex, options))
            }
            let constant = known
            let eager: ExpressionFunction.Eager = { values, _ throws(StoreError) in
                let text: String?
                switch values[0] {
                case .string(let value): text = value
                case nil, .null, .undefined: text = nil
                default: throw .location(51104, "\(name) needs 'input' to be of type string")
                }
                let pattern: CompiledRegex?
                if let constant {
                    pattern = constant
                } else {
                    pattern = try RegexSearch.pattern(name, values[1], values[2])
                }
                guard let text, let pattern else { return try body(nil) }
                return try body(RegexSearch(text: text, pattern: pattern))
            }
            return .call(ExpressionFunction(name, .eager(eager)), nodes)
        }
    }
}
