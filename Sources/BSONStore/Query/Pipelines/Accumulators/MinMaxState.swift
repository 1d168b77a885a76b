/// The least or the greatest value; null and missing ones are ignored.
final class MinMaxState: AccumulatorState {
    private let isMax: Bool
    private let run: PipelineRun
    private var best: BSONValue?

    init(isMax: Bool, _ run: PipelineRun) {
        self.isMax = isMax
        self.run = run
    }

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        guard let value, !value.isNullish else { return 0 }
        guard let known = best else {
            best = value.compacted()
            return BSONWriter.count(value)
        }
        guard run.compare(value, known) == (isMax ? .greater : .less) else { return 0 }
        best = value.compacted()
        return BSONWriter.count(value) - BSONWriter.count(known)
    }

    override func result() -> BSONValue? { best ?? .null }
}
