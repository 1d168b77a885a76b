/// A sink that collects all documents and then passes on a function's result for them.
final class BlockingSink: PipelineSink {
    typealias Flush = ([BSONDocument], any PipelineSink) throws(StoreError) -> Void

    private let next: any PipelineSink
    private var memory: PipelineMemory
    private let flush: Flush
    private var documents: [BSONDocument] = []

    init(_ next: any PipelineSink, _ memory: PipelineMemory, _ flush: @escaping Flush) {
        self.next = next
        self.memory = memory
        self.flush = flush
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        documents.append(try memory.keep(document))
        return true
    }

    func finish() throws(StoreError) {
        try flush(documents, next)
        documents = []
        try next.finish()
    }
}
