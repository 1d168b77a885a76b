/// The value of the last document.
final class LastState: AccumulatorState {
    private var last: BSONValue?

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        let before = last.map { BSONWriter.count($0) } ?? 0
        last = value?.compacted()
        return (value.map { BSONWriter.count($0) } ?? 0) - before
    }

    override func result() -> BSONValue? { last }
}
