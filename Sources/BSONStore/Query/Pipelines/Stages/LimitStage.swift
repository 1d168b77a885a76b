/// A stage that passes on the first documents.
struct LimitStage: PipelineStage {
    let count: Int

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        let count = try value.wholeCount("$limit", code: 5_107_201, for: "$limit")
        guard count > 0 else { throw .location(15958, "the limit must be positive") }
        return [LimitStage(count: count)]
    }

    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink {
        var given = 0
        return ExpandingSink(next) { [count] (document, next) throws(StoreError) in
            guard given < count else { return false }
            given += 1
            return try next.take(document) && given < count
        }
    }
}
