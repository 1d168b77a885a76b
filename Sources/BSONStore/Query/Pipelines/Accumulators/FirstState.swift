/// The value of the first document.
final class FirstState: AccumulatorState {
    private var first: BSONValue??

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        guard first == nil else { return 0 }
        first = .some(value?.compacted())
        return value.map { BSONWriter.count($0) } ?? 0
    }

    override func result() -> BSONValue? { first ?? nil }
}
