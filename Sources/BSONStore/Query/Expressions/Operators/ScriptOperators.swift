/// Operators that run scripts.
enum ScriptOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$function": function, "$_internalJsEmit": emit,
    ]

    /// `$function`: the result of a script for arguments.
    ///
    /// Source: the server's `expression_function.cpp`.
    private static let function = ExpressionOperator { name, argument, parser throws(StoreError) in
        guard case .document(let document) = argument else {
            throw .location(
                31260,
                "\(name) requires an object as an argument, found: "
                    + ExpressionText.type(of: argument))
        }
        guard let body = document["body"] else {
            throw .location(31261, "The body function must be specified.")
        }
        guard case .constant(let body) = try parser.operand(body) else {
            throw .location(31432, "The body function must be a constant expression")
        }
        guard let text = ScriptEngine.text(of: body) else {
            throw .location(31262, "The body function must evaluate to type string or code")
        }
        guard let arguments = document["args"] else {
            throw .location(31263, "The args field must be specified.")
        }
        guard let language = document["lang"] else {
            throw .location(31418, "The lang field must be specified.")
        }
        guard language.stringValue == "js" else {
            throw .location(31419, "Currently the only supported language specifier is 'js'.")
        }
        let script = try ScriptEngine.parse(text)
        let scope = document["_internalScope"]?.documentValue ?? [:]
        let call = ExpressionFunction(
            name, isDeterministic: false,
            .eager { (values, _) throws(StoreError) in
                guard case .array(let array)? = values.first ?? nil else {
                    throw .location(31266, "The args field must be of type array")
                }
                return try script.value(of: array.values, scope: scope)
            })
        return .call(call, [try parser.operand(arguments)])
    }

    /// `$_internalJsEmit`, which implements `mapReduce`: an array of the documents that a script
    /// emits.
    ///
    /// Source: the server's `expression_js_emit.cpp`.
    private static let emit = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["this", "eval", "scope"],
            notDocument: .location(
                31221,
                "\(name) requires an object as an argument, found: "
                    + ExpressionText.type(of: argument))
        ) { .location(31222, "\(name) found an unknown argument: \($0)") }
        guard let text = ScriptEngine.text(of: arguments["eval"]) else {
            throw .location(31224, "The map function must be of type string or code")
        }
        let this = try arguments.operand(
            "this", &parser, missing: .location(31223, "\(name) requires 'this' to be specified"))
        let script = try ScriptEngine.parse(text)
        let scope = arguments["scope"]?.documentValue ?? [:]
        let call = ExpressionFunction(
            name, isDeterministic: false,
            .eager { (values, _) throws(StoreError) in
                guard case .document(let document)? = values.first ?? nil else {
                    throw .location(31225, "'this' must be an object")
                }
                return try ExpressionLimits.array(
                    script.emits(of: document, scope: scope).map { .document($0) })
            })
        return .call(call, [this])
    }
}
