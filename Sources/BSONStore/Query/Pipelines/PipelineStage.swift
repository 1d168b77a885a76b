/// Is one step of a pipeline, parsed once; takes documents and gives others.
protocol PipelineStage: Sendable {
    /// Where documents go that come to the stage while a pipeline runs; what the stage makes of
    /// them goes to the next one.
    func sink(
        into next: any PipelineSink, _ run: PipelineRun
    ) throws(StoreError) -> any PipelineSink
}

/// Is a first stage, which gives documents of its own instead of those of a collection.
protocol PipelineSourceStage: PipelineStage {
    /// Gives the documents to a body until it returns false.
    func forEach(
        _ run: PipelineRun, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError)
}

extension PipelineSourceStage {
    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink { next }
}
