/// The number of values that an accumulator keeps, computed at the start of a group.
struct AccumulatorLimit {
    /// The number of values to keep.
    let count: Int
    let run: PipelineRun
    var memory: AccumulatorMemory

    init(_ name: String, _ value: BSONValue?, _ run: PipelineRun) throws(StoreError) {
        guard let value, BSONNumber(value) != nil else {
            throw .location(
                5_787_902,
                "Value for 'n' must be of integral type, but found "
                    + ExpressionText.text(of: value))
        }
        guard let count = value.wholeNumber else {
            throw .location(
                5_787_903,
                "Value for 'n' must be of integral type, but found "
                    + ExpressionText.text(of: value))
        }
        guard count > 0 else {
            throw .location(5_787_908, "'n' must be greater than 0, found \(count)")
        }
        self.count = Int(count)
        self.run = run
        memory = AccumulatorMemory(name, run.bytesMax)
    }
}
