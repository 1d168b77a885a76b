internal import BSONStore

extension Result {
    /// The value of a success.
    var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }

    /// The error of a failure.
    var fault: Failure? {
        if case .failure(let fault) = self { fault } else { nil }
    }
}
