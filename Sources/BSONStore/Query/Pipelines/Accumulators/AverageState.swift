/// Averages the numbers of a group; null without any.
final class AverageState: AccumulatorState {
    private var total = SumAccumulator()

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        total.add(value)
        return 0
    }

    override func result() -> BSONValue? { total.mean }
}
