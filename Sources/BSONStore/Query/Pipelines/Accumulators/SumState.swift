/// Adds the numbers of a group.
final class SumState: AccumulatorState {
    private var total = SumAccumulator()

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        total.add(value)
        return 0
    }

    override func result() -> BSONValue? { total.sum }
}

/// Averages the numbers of a group; null without any.
final class AverageState: AccumulatorState {
    private var total = SumAccumulator()

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        total.add(value)
        return 0
    }

    override func result() -> BSONValue? { total.mean }
}

/// Counts the documents of a group.
final class CountState: AccumulatorState {
    private var count = 0

    override func add(_: BSONValue?, _: BSONDocument) -> Int {
        count += 1
        return 0
    }

    override func result() -> BSONValue? { .count(count) }
}

/// Computes the standard deviation of the numbers of a group, of all or as of a sample.
final class StandardDeviationState: AccumulatorState {
    private let isSample: Bool
    private var deviation = StandardDeviation()

    init(isSample: Bool) { self.isSample = isSample }

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        deviation.add(value)
        return 0
    }

    override func result() -> BSONValue? { deviation.value(isSample: isSample) }
}
