/// The last value that was not null.
struct LastObservationWindow: WindowFunction {
    let input: Expression

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        var last: BSONValue?
        return try input.values(partition, run).map { value in
            if let value, !value.isNullish { last = value }
            return last
        }
    }
}
