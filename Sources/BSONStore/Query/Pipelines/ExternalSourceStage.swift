/// Gives the documents of a first stage that the caller added.
struct ExternalSourceStage: PipelineSourceStage {
    let source: PipelineOptions.Source
    let argument: BSONValue

    func forEach(
        _ run: PipelineRun, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        for document in try source(argument) {
            guard try body(document) else { return }
        }
    }
}
