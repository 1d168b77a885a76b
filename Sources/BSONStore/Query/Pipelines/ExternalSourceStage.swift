/// A first stage that the caller defines and that provides its own documents.
struct ExternalSourceStage: PipelineSourceStage {
    let source: ServerStage
    let argument: BSONValue

    func forEach(
        _ run: PipelineRun, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        for document in try source.documents(argument, run.namespace) {
            guard try body(document) else { return }
        }
    }
}
