import BSONQuery

/// The reason why an evaluation stops.
enum ScriptFailure: Error {
    /// The script threw the interpreter's ``ScriptInterpreter/thrown``.
    case thrown
    /// An optional access of a chain found nothing; it never leaves the expression.
    case skipped
    /// A limit was exceeded, which no script can catch.
    case failed(StoreError)
}
