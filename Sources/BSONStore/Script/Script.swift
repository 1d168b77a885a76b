package import BSONQuery

/// A parsed script in the part of JavaScript that queries need.
///
/// The language is the part of ECMAScript in which such scripts are written; see `Docs/QUERIES.md`.
/// The interpreter is our own, because those that Debian packages cannot be stopped. Here every
/// evaluation has a limit of time and of memory, and can access only the document.
package struct Script: CompiledScript {
    private let function: ScriptFunction

    /// Parses a text: an expression, statements or a function.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for an invalid script.
    package init(_ text: String) throws(StoreError) { function = try ScriptParser.parse(text) }

    /// Whether a document passes; the script sees it as `this` and `obj`.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for an error that the script throws, 50
    ///   (MaxTimeMSExpired) if it exceeds its time.
    package func accepts(_ document: BSONDocument) throws(StoreError) -> Bool {
        let this = ScriptValue.object(ScriptObject(document))
        let machine = ScriptInterpreter()
        defer { machine.forget() }
        return try machine.run(function, this: this, names: ["obj": this]).isTrue
    }

    /// Returns the script's result for arguments.
    ///
    /// - Parameter scope: the values that the script sees by name.
    /// - Throws: as ``accepts(_:)``, and an error if the result cannot be stored.
    package func value(
        of arguments: [BSONValue], scope: BSONDocument
    ) throws(StoreError) -> BSONValue {
        let machine = ScriptInterpreter()
        defer { machine.forget() }
        let value = try machine.run(
            function, this: .object(ScriptObject()), names: Self.names(scope),
            arguments.map { ScriptValue($0) })
        return try value.stored()
    }

    /// Returns the documents of `k` and `v` that the script emits; it sees a document as `this`.
    ///
    /// - Throws: as ``value(of:scope:)``; 31220 for a wrong call of `emit`.
    package func emits(
        of document: BSONDocument, scope: BSONDocument
    ) throws(StoreError) -> [BSONDocument] {
        let machine = ScriptInterpreter()
        machine.emitted = []
        defer { machine.forget() }
        _ = try machine.run(
            function, this: .object(ScriptObject(document)), names: Self.names(scope))
        return machine.emitted ?? []
    }

    private static func names(_ scope: BSONDocument) -> [Name: ScriptValue] {
        var names: [Name: ScriptValue] = [:]
        for (name, value) in scope { names[name] = ScriptValue(value) }
        return names
    }
}
