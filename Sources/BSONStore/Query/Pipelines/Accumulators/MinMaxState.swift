/// The least or the greatest value; null and missing ones are ignored.
final class MinMaxState: AccumulatorState {
    private let isMax: Bool
    /// Whether the last of equal values stays, not the first.
    private let keepsLast: Bool
    private let run: PipelineRun
    private var best: BSONValue?

    init(isMax: Bool, keepsLast: Bool = false, _ run: PipelineRun) {
        self.isMax = isMax
        self.keepsLast = keepsLast
        self.run = run
    }

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        guard let value, !value.isNullish else { return 0 }
        guard let known = best else {
            best = value.compacted()
            return BSONWriter.count(value)
        }
        let order = run.compare(value, known)
        guard order == (isMax ? .greater : .less) || (keepsLast && order == .equal) else {
            return 0
        }
        best = value.compacted()
        return BSONWriter.count(value) - BSONWriter.count(known)
    }

    override func result() -> BSONValue? { best ?? .null }
}
