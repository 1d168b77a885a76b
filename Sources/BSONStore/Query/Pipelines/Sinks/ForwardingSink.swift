/// Gives on the documents of another pipeline, whose end is not the end of all.
final class ForwardingSink: PipelineSink {
    private let next: any PipelineSink
    private(set) var wantsMore = true

    init(_ next: any PipelineSink) { self.next = next }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        guard wantsMore else { return false }
        wantsMore = try next.take(document)
        return wantsMore
    }

    func finish() {}
}
