/// A sink that passes on a function's result for each document.
final class MappingSink: PipelineSink {
    typealias Map = (BSONDocument) throws(StoreError) -> BSONDocument?

    private let next: any PipelineSink
    private let map: Map

    init(_ next: any PipelineSink, _ map: @escaping Map) {
        self.next = next
        self.map = map
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        guard let mapped = try map(document) else { return true }
        return try next.take(mapped)
    }

    func finish() throws(StoreError) { try next.finish() }
}
