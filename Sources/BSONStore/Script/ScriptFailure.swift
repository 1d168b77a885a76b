import BSONQuery

/// The reason why an evaluation stops.
enum ScriptFailure: Error {
    /// The script threw the interpreter's ``ScriptInterpreter/thrown``.
    case thrown
    /// A limit was exceeded, which no script can catch.
    case failed(StoreError)
}
