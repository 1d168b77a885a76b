/// A sink that passes on any number of documents for each one.
final class ExpandingSink: PipelineSink {
    typealias Expand = (BSONDocument, any PipelineSink) throws(StoreError) -> Bool

    private let next: any PipelineSink
    private let expand: Expand

    init(_ next: any PipelineSink, _ expand: @escaping Expand) {
        self.next = next
        self.expand = expand
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        return try expand(document, next)
    }

    func finish() throws(StoreError) { try next.finish() }
}
