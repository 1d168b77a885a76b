/// The distinct values in the order of their first occurrence; MongoDB leaves the order open.
final class AddToSetState: AccumulatorState {
    private var values: [BSONValue] = []
    private var seen: Set<[UInt8]> = []
    private let run: PipelineRun
    private var memory: AccumulatorMemory

    /// - Parameter name: the accumulator that keeps the set, for errors.
    init(_ run: PipelineRun, for name: String = "$addToSet") {
        self.run = run
        memory = AccumulatorMemory(name, run.bytesMax)
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value, seen.insert(run.key(of: value)).inserted else { return 0 }
        values.append(value.compacted())
        return try memory.add(value)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}
