/// A stage that omits the first documents.
struct SkipStage: PipelineStage {
    let count: Int

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        [SkipStage(count: try value.wholeCount("$skip", code: 5_107_200, for: "$skip"))]
    }

    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink {
        var seen = 0
        return MappingSink(next) { [count] document in
            guard seen < count else { return document }
            seen += 1
            return nil
        }
    }
}
