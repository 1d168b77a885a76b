/// Is a text of `$where`, `$function` and the like, read once and run any number of times.
///
/// The language is the part of ECMAScript that such texts are written in; see `Docs/QUERIES.md`. The
/// interpreter is our own since those that Debian packages cannot be stopped: here every evaluation
/// has a limit of time and of memory, and reaches nothing but the document.
struct Script: Sendable {
    private let function: ScriptFunction

    /// Reads a text: an expression, statements or a function.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for what is no script.
    init(_ text: String) throws(StoreError) { function = try ScriptParser.parse(text) }

    /// Whether a document, which the script knows as `this` and `obj`, passes.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for what the script throws, 50 (MaxTimeMSExpired) when
    ///   its time is over.
    func accepts(_ document: BSONDocument) throws(StoreError) -> Bool {
        let this = ScriptValue.object(ScriptObject(document))
        let machine = ScriptInterpreter()
        defer { machine.forget() }
        return try machine.run(function, this: this, names: ["obj": this]).isTrue
    }

    /// What the script gives for arguments.
    ///
    /// - Parameter scope: what the script knows by name.
    /// - Throws: as ``accepts(_:)``, and what its value cannot be stored for.
    func value(
        of arguments: [BSONValue], scope: BSONDocument = [:]
    ) throws(StoreError) -> BSONValue {
        let machine = ScriptInterpreter()
        defer { machine.forget() }
        let value = try machine.run(
            function, this: .object(ScriptObject()), names: Self.names(scope),
            arguments.map { ScriptValue($0) })
        return try BSONValue(value)
    }

    /// What the script, which knows a document as `this`, emits: documents of `k` and `v`.
    ///
    /// - Throws: as ``value(of:scope:)``; 31220 for a wrong call of `emit`.
    func emits(
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
