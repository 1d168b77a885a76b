/// A parsed stage of a pipeline, which transforms documents.
protocol PipelineStage: Sendable {
    /// Returns the sink for the stage's input while a pipeline runs; the stage's results are passed
    /// to the next sink.
    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink
}

/// A first stage, which provides its own documents instead of a collection's.
protocol PipelineSourceStage: PipelineStage {
    /// Calls a body with the documents until it returns false.
    func forEach(
        _ run: PipelineRun, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError)
}

extension PipelineSourceStage {
    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink { next }
}
