/// Operators on texts.
enum StringOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$concat": .any { nodes, context throws(StoreError) in
            var text = ""
            for node in nodes {
                let value = try node.evaluate(&context)
                if NumberCoercion.isNullish(value) { return .null }
                guard case .string(let part) = value else {
                    throw .location(
                        16702,
                        "$concat only supports strings, not \(ExpressionText.type(of: value))"
                    )
                }
                text += part
                try ExpressionLimits.checkText(text.utf8.count)
            }
            return .string(text)
        },
        "$indexOfBytes": .between(2...4) { arguments, _ throws(StoreError) in
            try ExpressionString.index("$indexOfBytes", arguments, 40091, isBytes: true)
        },
        "$indexOfCP": .between(2...4) { arguments, _ throws(StoreError) in
            try ExpressionString.index("$indexOfCP", arguments, 40093, isBytes: false)
        },
        "$split": .fixed(2) { arguments, _ throws(StoreError) in
            try ExpressionString.split(arguments[0], arguments[1])
        },
        "$strLenBytes": length("$strLenBytes", 34473) { $0.utf8.count },
        "$strLenCP": length("$strLenCP", 34471) { $0.unicodeScalars.count },
        "$strcasecmp": .fixed(2) { arguments, _ throws(StoreError) in
            let left = Array(ExpressionString.upper(try ExpressionString.coerce(arguments[0])).utf8)
            let right = Array(
                ExpressionString.upper(try ExpressionString.coerce(arguments[1])).utf8)
            if left == right { return .int32(0) }
            return .int32(left.lexicographicallyPrecedes(right) ? -1 : 1)
        },
        "$substr": .fixed(3) { arguments, _ throws(StoreError) in
            try ExpressionString.bytes(arguments)
        },
        "$substrBytes": .fixed(3) { arguments, _ throws(StoreError) in
            try ExpressionString.bytes(arguments)
        },
        "$substrCP": .fixed(3) { arguments, _ throws(StoreError) in
            try ExpressionString.codePoints(arguments)
        },
        "$toLower": .fixed(1) { arguments, _ throws(StoreError) in
            .string(ExpressionString.lower(try ExpressionString.coerce(arguments[0])))
        },
        "$toUpper": .fixed(1) { arguments, _ throws(StoreError) in
            .string(ExpressionString.upper(try ExpressionString.coerce(arguments[0])))
        },
        "$trim": trim(left: true, right: true), "$ltrim": trim(left: true, right: false),
        "$rtrim": trim(left: false, right: true),
        "$replaceOne": replace(all: false), "$replaceAll": replace(all: true),
    ]

    private static func length(
        _ name: String, _ code: Int32, _ count: @escaping @Sendable (String) -> Int
    ) -> ExpressionOperator {
        .fixed(1) { arguments, _ throws(StoreError) in
            guard case .string(let text) = arguments[0] else {
                throw .location(
                    code,
                    "\(name) requires a string argument, found: "
                        + ExpressionText.type(of: arguments[0]))
            }
            return .int32(Int32(truncatingIfNeeded: count(text)))
        }
    }

    private static func trim(left: Bool, right: Bool) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let arguments = try ExpressionArguments(
                argument, ["input", "chars"],
                notDocument: .location(
                    50696,
                    "\(name) only supports an object as an argument, found "
                        + ExpressionText.type(of: argument))
            ) { .location(50694, "\(name) found an unknown argument: \($0)") }
            let nodes = [
                try arguments.operand(
                    "input", &parser,
                    missing: .location(50695, "\(name) requires an 'input' field")),
                try arguments.operand(
                    "chars", &parser, default: .string(ExpressionString.spaces)),
            ]
            let body: ExpressionFunction.Eager = { values, _ throws(StoreError) in
                if NumberCoercion.isNullish(values[0]) { return .null }
                guard case .string(let text) = values[0] else {
                    throw notText(50699, "\(name) requires its input to be a string", values[0])
                }
                if NumberCoercion.isNullish(values[1]) { return .null }
                guard case .string(let characters) = values[1] else {
                    throw notText(50700, "\(name) requires 'chars' to be a string", values[1])
                }
                let set = Set(characters.unicodeScalars)
                var rest = text.unicodeScalars[...]
                if left { rest = rest.drop { set.contains($0) } }
                while right, let last = rest.last, set.contains(last) { rest.removeLast() }
                return .string(String(rest))
            }
            return .call(ExpressionFunction(name, .eager(body)), nodes)
        }
    }

    private static func notText(
        _ code: Int32, _ text: String, _ value: BSONValue?
    ) -> StoreError {
        .location(
            code,
            "\(text), got \(ExpressionText.text(of: value)) (of type "
                + "\(ExpressionText.type(of: value))) instead.")
    }

    private static func replace(all: Bool) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let names = ["input", "find", "replacement"]
            let arguments = try ExpressionArguments(
                argument, names,
                notDocument: .location(
                    51751,
                    "\(name) requires an object as an argument, found: "
                        + ExpressionText.type(of: argument))
            ) { .location(51750, "\(name) found an unknown argument: \($0)") }
            var nodes: [ExpressionNode] = []
            for (field, code) in zip(names, [51749, 51748, 51747] as [Int32]) {
                nodes.append(
                    try arguments.operand(
                        field, &parser,
                        missing: .location(code, "\(name) requires '\(field)' to be specified")))
            }
            let eager: ExpressionFunction.Eager = { values, _ throws(StoreError) in
                var texts: [String] = []
                let codes: [Int32] = [10_503_904, 10_503_901, 10_503_902]
                for (place, code) in codes.enumerated() {
                    switch values[place] {
                    case .string(let text): texts.append(text)
                    case nil, .null, .undefined: continue
                    default:
                        throw .location(
                            code,
                            "\(name) requires that '\(names[place])' be a string, found: "
                                + ExpressionText.text(of: values[place]))
                    }
                }
                guard texts.count == 3 else { return .null }
                return .string(
                    try ExpressionString.replacing(texts[0], texts[1], texts[2], all: all))
            }
            return .call(ExpressionFunction(name, .eager(eager)), nodes)
        }
    }
}
