/// The standard deviation of a group's numbers, as a population or as a sample.
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
