/// Takes the documents that a stage gives, one after the other.
protocol PipelineSink: AnyObject {
    /// Takes one more document.
    ///
    /// - Returns: false when no more are wanted; whoever gives them then goes on to ``finish()``.
    func take(_ document: BSONDocument) throws(StoreError) -> Bool

    /// Is told, once, that no more documents come.
    func finish() throws(StoreError)
}

extension StoreError.Code {
    /// A stage holds more memory than it may; MongoDB's QueryExceededMemoryLimitNoDiskUseAllowed.
    static let noDiskUseAllowed = Self(rawValue: 292)
}
