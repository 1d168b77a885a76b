/// Gives the value of a document that stands before or behind.
struct ShiftWindow: WindowFunction {
    var output: Expression?
    var by = 0
    /// What stands for a document outside of the partition, or for a missing value.
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
