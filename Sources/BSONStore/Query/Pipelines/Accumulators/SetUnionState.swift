/// The distinct elements of all arrays in the order of their first occurrence; MongoDB leaves the
/// order open.
final class SetUnionState: AccumulatorState {
    private var values: [BSONValue] = []
    private var seen: Set<[UInt8]> = []
    private let run: PipelineRun
    private var memory: AccumulatorMemory

    init(_ run: PipelineRun) {
        self.run = run
        memory = AccumulatorMemory("$setUnion", run.bytesMax)
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let array = try ConcatArraysState.array(value, "$setUnion") else { return 0 }
        var growth = 0
        for element in array {
            try WorkBudget.spend()
            guard seen.insert(run.key(of: element)).inserted else { continue }
            values.append(element.compacted())
            growth += try memory.add(element)
        }
        return growth
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}
