/// A stage that passes on a random sample in random order.
struct SampleStage: PipelineStage {
    let size: Int

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(28745, "the $sample stage specification must be an object")
        }
        var size: Int?
        for (key, value) in document {
            guard key == "size" else {
                throw .location(28748, "unrecognized option to $sample: \(key)")
            }
            guard let number = value.clampedNumber else {
                throw .location(28746, "size argument to $sample must be a number")
            }
            guard number > 0 else {
                throw .location(28747, "size argument to $sample must be a positive integer")
            }
            size = Int(number)
        }
        guard let size else { throw .location(28749, "$sample stage must specify a size") }
        return [SampleStage(size: size)]
    }

    /// Keeps each document with a probability that depends on its number, so that all have the
    /// same.
    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        SamplingSink(next, size: size, run.memory("$sample"))
    }
}
