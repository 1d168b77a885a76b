import BSONQuery

/// A result that a script may wait for; most promises have theirs from the beginning.
final class ScriptPromise {
    enum State {
        case pending
        case fulfilled(ScriptValue)
        case rejected(ScriptValue)
    }

    var state = State.pending
    /// The functions that run when the promise has its result.
    var followers: [() throws -> Void] = []

    /// The result, whether it is a value or an error.
    var value: ScriptValue? {
        switch state {
        case .pending: nil
        case .fulfilled(let value), .rejected(let value): value
        }
    }
}
