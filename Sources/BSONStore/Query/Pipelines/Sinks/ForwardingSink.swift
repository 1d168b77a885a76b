/// A sink that passes on another pipeline's documents, but not its end.
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
