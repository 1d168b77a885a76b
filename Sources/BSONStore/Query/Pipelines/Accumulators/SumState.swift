/// The sum of the numbers of a group.
final class SumState: AccumulatorState {
    private var total = SumAccumulator()

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        total.add(value)
        return 0
    }

    override func result() -> BSONValue? { total.sum }
}
