/// The average of the numbers of a group; null if there are none.
final class AverageState: AccumulatorState {
    private var total = SumAccumulator()

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        total.add(value)
        return 0
    }

    override func result() -> BSONValue? { total.mean }
}
