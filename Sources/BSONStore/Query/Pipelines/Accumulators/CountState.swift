/// The number of documents in a group.
final class CountState: AccumulatorState {
    private var count = 0

    override func add(_: BSONValue?, _: BSONDocument) -> Int {
        count += 1
        return 0
    }

    override func result() -> BSONValue? { .count(count) }
}
