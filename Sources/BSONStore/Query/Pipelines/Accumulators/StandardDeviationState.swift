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
