/// A sink that passes documents to a closure.
final class ClosureSink: PipelineSink {
    typealias Body = (BSONDocument) throws(StoreError) -> Bool

    private let body: Body

    init(_ body: @escaping Body) { self.body = body }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        return try body(document)
    }

    func finish() {}
}
