/// Is a text of `$where`, read once and run for any number of documents.
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
        return try ScriptMachine.run(function, this: this, names: ["obj": this]).isTrue
    }
}
