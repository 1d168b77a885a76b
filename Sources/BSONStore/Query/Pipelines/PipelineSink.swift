/// A receiver of a stage's documents, one after the other.
protocol PipelineSink: AnyObject {
    /// Receives one more document.
    ///
    /// - Returns: false if no more are wanted; the caller then proceeds to ``finish()``.
    func take(_ document: BSONDocument) throws(StoreError) -> Bool

    /// Ends the input; called once, after the last document.
    func finish() throws(StoreError)
}
