package import BSONQuery

/// A series of evaluations that share their global names, as in a shell.
///
/// A session is used by one thread at a time. A `WorkBudget` of the task stops an evaluation from
/// another thread.
///
/// ```swift
/// let session = ScriptSession()
/// session.define("greet") { arguments in .string("Hello, \(arguments.first?.text ?? "")") }
/// try session.evaluate("const name = 'Ann'")
/// try session.evaluate("greet(name)").text
/// ```
package final class ScriptSession {
    fileprivate let interpreter: ScriptInterpreter

    package init(options: ScriptOptions = .shell) {
        interpreter = ScriptInterpreter(options: options)
    }

    deinit { interpreter.forget() }

    /// Runs the next function that waits for its time, while a script awaits a promise; returns
    /// whether there was one.
    package var runNext: (() throws -> Bool)? {
        get { interpreter.runNext }
        set { interpreter.runNext = newValue }
    }

    /// The value that a script threw last.
    package var lastThrown: ScriptValue { interpreter.thrown }

    /// Sleeps.
    ///
    /// - Throws: as ``evaluate(_:)`` if the evaluation is stopped.
    package func pause(milliseconds: Double) throws {
        try interpreter.pause(milliseconds: milliseconds)
    }

    /// Defines a global name.
    package func define(_ name: String, _ value: ScriptValue) {
        interpreter.globals.declare(name, value)
    }

    /// Defines a global function in Swift.
    package func define(_ name: String, _ native: @escaping ScriptNative) {
        define(name, .native(name, native))
    }

    /// Returns the value of a global name; `nil` if no script has declared it.
    package func value(_ name: String) -> ScriptValue? { interpreter.globals.value(name) }

    /// Runs a text and returns the value of its last statement.
    ///
    /// - Throws: a ``ScriptError`` for an invalid text and for what the script throws; 50
    ///   (MaxTimeMSExpired), 139 or the error of the `WorkBudget` if it exceeds a limit.
    package func evaluate(_ text: String) throws -> ScriptValue {
        let (statements, origin) = try Self.parse(text)
        let before = interpreter.origin
        defer { interpreter.origin = before }
        interpreter.lastValue = .undefined
        interpreter.place = 0
        interpreter.origin = origin
        for name in ScriptStatement.variables(of: statements) {
            interpreter.globals.declareInFunction(name, nil)
        }
        let frame = ScriptFrame(scope: interpreter.globals, this: .undefined)
        do throws(ScriptFailure) {
            let end = try interpreter.entering { () throws(ScriptFailure) in
                try interpreter.execute(statements, frame)
            }
            switch end {
            case .return(let value): return try interpreter.awaited(value)
            case .normal, .break, .continue:
                return try interpreter.awaited(interpreter.lastValue)
            }
        } catch {
            switch error {
            case .failed(let error): throw error
            case .skipped: return .undefined
            case .thrown: throw self.error()
            }
        }
    }

    /// Calls a function of a script, for example from a native function.
    ///
    /// - Throws: what the function throws; a native function lets it pass.
    package func call(
        _ function: ScriptValue, _ arguments: [ScriptValue], this: ScriptValue = .undefined
    ) throws -> ScriptValue {
        try interpreter.entering { () throws(ScriptFailure) in
            try interpreter.call(function, this: this, arguments)
        }
    }

    /// Returns a value as a text, by its own `toString` if it has one.
    package func text(_ value: ScriptValue) throws -> String { try interpreter.text(value) }

    /// Returns the value of a property, as scripts read it.
    package func property(_ name: String, of value: ScriptValue) throws -> ScriptValue {
        try interpreter.property(.string(name), of: value)
    }

    /// Returns all items of a value that loops can visit.
    package func items(of value: ScriptValue) throws -> [ScriptValue] {
        try interpreter.items(of: value)
    }

    /// Returns a value as scripts see it.
    package func value(_ value: BSONValue) -> ScriptValue {
        ScriptValue(value, keepsNumberTypes: interpreter.options.keepsNumberTypes)
    }

    /// Returns a value for storage.
    ///
    /// - Throws: as `ScriptValue.stored(was:depth:keepsNumberTypes:)`.
    package func stored(_ value: ScriptValue) throws(StoreError) -> BSONValue {
        try value.stored(keepsNumberTypes: interpreter.options.keepsNumberTypes)
    }

    private static func parse(_ text: String) throws -> ([ScriptStatement], ScriptOrigin?) {
        var lexer = ScriptLexer(text)
        do throws(StoreError) {
            var parser = try ScriptParser(text, keepsPlaces: true)
            lexer = parser.lexer
            var statements: [ScriptStatement] = []
            do throws(StoreError) {
                while parser.token != .end { statements.append(try parser.statement()) }
            } catch {
                lexer = parser.lexer
                throw error
            }
            return (statements, parser.origin)
        } catch {
            let (line, column) = lexer.place(lexer.start)
            let message = error.message.dropFirst("SyntaxError: ".count)
            throw ScriptError("SyntaxError", String(message), line: line, column: column)
        }
    }

    /// Returns the error that the script threw.
    fileprivate func error() -> ScriptError {
        let thrown = interpreter.thrown
        let place = interpreter.thrownOrigin?.place(interpreter.thrownPlace)
        guard let object = thrown.object, case .error = object.kind else {
            return ScriptError(
                "uncaught exception", thrown.text, line: place?.line, column: place?.column)
        }
        var fields = BSONDocument()
        for name in object.ownNames where !["name", "message"].contains(name) {
            do throws(StoreError) {
                fields.append(name, try stored(object.own(name) ?? .undefined))
            } catch {
                fields.append(name, .string(error.message))
            }
        }
        return ScriptError(
            object.find("name")?.text ?? "Error", object.find("message")?.text ?? "",
            fields: fields, line: place?.line, column: place?.column)
    }
}

extension ScriptValue {
    /// Returns a function in Swift as a value.
    package static func native(_ name: String, _ native: @escaping ScriptNative) -> ScriptValue {
        .object(ScriptObject(.native(name: name, native)))
    }

    /// Returns an object whose properties Swift answers.
    package static func host(_ host: any ScriptHost) -> ScriptValue {
        .object(ScriptObject(.host(host)))
    }

    /// Returns a list.
    package static func list(_ elements: [ScriptValue]) -> ScriptValue {
        .object(ScriptObject(elements: elements))
    }

    /// The host of an object that Swift answers for.
    package var host: (any ScriptHost)? {
        if case .host(let host) = object?.kind { host } else { nil }
    }
}

extension ScriptSession {
    /// Returns the result of a promise, or any other value as it is.
    package func awaited(_ value: ScriptValue) throws -> ScriptValue {
        try interpreter.awaited(value)
    }

    /// Whether an object itself has a property.
    package func hasOwn(_ name: String, _ value: ScriptValue) throws -> Bool {
        value.object?.own(name) != nil
    }

    /// Returns the `errorLabels` of an error that a call threw.
    package func labels(of error: any Error) throws -> [String] {
        let labels =
            switch error {
            case let error as ScriptError: value(error.fields["errorLabels"] ?? .null)
            case is ScriptFailure: try property("errorLabels", of: lastThrown)
            default: ScriptValue.null
            }
        guard labels.object?.isArray == true else { return [] }
        return try items(of: labels).map(\.text)
    }

    /// Returns the text of an error that a call threw, if a script threw it.
    package func failure(_ error: any Error) -> (any Error) {
        guard let failure = error as? ScriptFailure else { return error }
        switch failure {
        case .thrown: return self.error()
        case .failed(let error): return error
        case .skipped: return error
        }
    }
}
