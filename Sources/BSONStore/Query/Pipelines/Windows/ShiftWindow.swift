/// The value of a document at a distance before or behind.
struct ShiftWindow: WindowFunction {
    var output: Expression?
    var by = 0
    /// The default for a document outside of the partition, or for a missing value.
    var other: BSONValue?

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        let outputs = try output?.values(partition, run) ?? []
        return outputs.indices.map { place in
            let wanted = place + by
            return outputs.indices.contains(wanted) ? outputs[wanted] ?? other : other
        }
    }
}
