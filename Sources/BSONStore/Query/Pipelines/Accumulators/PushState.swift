/// All values in document order; missing ones are ignored.
final class PushState: AccumulatorState {
    private var values: [BSONValue] = []
    private var memory: AccumulatorMemory

    init(_ run: PipelineRun) { memory = AccumulatorMemory("$push", run.bytesMax) }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value else { return 0 }
        values.append(value.compacted())
        return try memory.add(value)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}
