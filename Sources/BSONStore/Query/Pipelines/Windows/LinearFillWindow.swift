/// A linear interpolation of nulls between two numbers.
struct LinearFillWindow: WindowFunction {
    let input: Expression

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        var values = try input.values(partition, run)
        var known: Int?
        for place in values.indices {
            try check(partition.sortValues[place], besides: partition.sortValues[0])
            if place > 0, partition.sortKeys[place] == partition.sortKeys[place - 1] {
                throw .location(
                    6_050_106, "There can be no repeated values in the sort field")
            }
            guard let value = values[place], !value.isNullish else { continue }
            guard BSONNumber(value) != nil else {
                throw StoreError(
                    .typeMismatch, "Value to be filled must be numeric or nullish")
            }
            if let known, known + 1 < place { try fill(&values, known, place, partition) }
            known = place
        }
        return values
    }

    /// Throws for values that cannot be interpolated, and for a mixture of dates and numbers.
    private func check(_ value: BSONValue, besides first: BSONValue) throws(StoreError) {
        guard value.isNumber || value.type == .datetime else {
            throw StoreError(
                .typeMismatch,
                "$linearFill sorts by numbers or dates, found \(value.type.alias)")
        }
        guard value.isNumber == first.isNumber else {
            throw StoreError(.typeMismatch, "$linearFill sorts by numbers or by dates, not both")
        }
    }

    private func fill(
        _ values: inout [BSONValue?], _ from: Int, _ to: Int, _ partition: WindowPartition
    ) throws(StoreError) {
        let start = try WindowNumber(values[from])
        let end = try WindowNumber(values[to])
        let first = try WindowNumber(position: partition.sortValues[from])
        let length = try WindowNumber(position: partition.sortValues[to]).minus(first)
        for place in (from + 1)..<to {
            let distance = try WindowNumber(position: partition.sortValues[place]).minus(first)
            // The slope is computed first, so that rounding matches the server's.
            let slope = end.minus(start).divided(by: length)
            values[place] = start.plus(distance.times(slope)).value
        }
    }
}
