/// The distinct elements of all arrays in the order of their first occurrence; MongoDB leaves the
/// order open.
final class SetUnionState: AccumulatorState {
    private let elements: AddToSetState

    init(_ run: PipelineRun) { elements = AddToSetState(run, for: "$setUnion") }

    override func add(
        _ value: BSONValue?, _ document: BSONDocument
    ) throws(StoreError) -> Int {
        guard let array = try ConcatArraysState.array(value, "$setUnion") else { return 0 }
        var growth = 0
        for element in array {
            try WorkBudget.spend()
            growth += try elements.add(element, document)
        }
        return growth
    }

    override func result() throws(StoreError) -> BSONValue? { try elements.result() }
}
