/// Says why an evaluation stops.
enum ScriptFailure: Error {
    /// The script threw the machine's ``ScriptInterpreter/thrown``.
    case thrown
    /// A limit was met, which no script catches.
    case failed(StoreError)
}
