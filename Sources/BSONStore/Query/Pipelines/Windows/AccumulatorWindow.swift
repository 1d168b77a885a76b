/// An accumulator over the window of each document.
struct AccumulatorWindow: WindowFunction {
    let accumulator: Accumulator
    let bounds: WindowBounds

    /// - Parameter accumulator: of equal greatest values it keeps the last one if windows lose
    ///   documents, as the server's `window_function_min_max.h`.
    init(accumulator: Accumulator, bounds: WindowBounds) {
        let keepsLast = accumulator.name == "$max" && !bounds.beginAtFirst
        self.accumulator = keepsLast ? accumulator.keepingLast : accumulator
        self.bounds = bounds
    }

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        let inputs = try accumulator.argument?.values(partition, run)
        if let inputs, !bounds.beginAtFirst, let sliding = SlidingAccumulator(accumulator) {
            var windows: [Range<Int>] = []
            for place in partition.documents.indices {
                windows.append(try bounds.places(of: place, in: partition))
            }
            let goOn = zip(windows, windows.dropFirst()).allSatisfy {
                $0.lowerBound <= $1.lowerBound && $0.upperBound <= $1.upperBound
            }
            if goOn { return try sliding.values(windows, of: inputs, run) }
        }
        let isDeviation = accumulator.name.hasBytePrefix("$stdDev") && !bounds.beginAtFirst
        var state = try accumulator.start(.null, run)
        var stateMemory = run.memory("$setWindowFields")
        var held = 0..<0
        var last: BSONValue?
        var values: [BSONValue?] = []
        var memory = run.memory("$setWindowFields")
        for place in partition.documents.indices {
            let window = try bounds.places(of: place, in: partition)
            if window == held, place > 0 {
                values.append(last)
                continue
            }
            var missing = window
            if window.lowerBound == held.lowerBound, window.upperBound >= held.upperBound {
                missing = held.upperBound..<window.upperBound
            } else {
                state = try accumulator.start(.null, run)
                stateMemory = run.memory("$setWindowFields")
            }
            for index in missing {
                try stateMemory.add(
                    try state.add(inputs?[index], partition.documents[index]))
            }
            held = window
            var value = try state.result() ?? .null
            // As the server's, a deviation whose windows lose documents knows no infinite ones.
            if isDeviation, case .double(let number) = value, number.isNaN { value = .null }
            try memory.add(BSONWriter.count(value))
            values.append(value)
            last = value
        }
        return values
    }
}
