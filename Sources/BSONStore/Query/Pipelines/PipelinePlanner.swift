/// A planner that moves the first stages to the collection if it can execute them.
struct PipelinePlanner {
    private var stages: ArraySlice<any PipelineStage>

    init(stages: [any PipelineStage]) { self.stages = Self.fusing(stages)[...] }

    /// Returns the part of the pipeline that the collection executes.
    mutating func access(_ parser: PipelineParser) throws(StoreError) -> Pipeline.Access {
        var access = Pipeline.Access()
        while let match = stages.first as? MatchStage {
            access.filters.append(match.filter.document)
            access.filter = match.filter
            stages.removeFirst()
        }
        if access.filters.count > 1 {
            let all = access.filters.map { BSONValue.document($0) }
            access.filter = try parser.filter(["$and": .array(BSONArray(all))])
        }
        if let sort = stages.first as? SortStage {
            access.sort = sort.order
            access.limit = sort.limit
            stages.removeFirst()
        }
        while take(&access) { stages.removeFirst() }
        return access
    }

    /// Returns the remaining stages.
    func rest() -> [any PipelineStage] { Array(stages) }

    private func take(_ access: inout Pipeline.Access) -> Bool {
        if let limit = stages.first as? LimitStage {
            access.limit = access.limit == 0 ? limit.count : min(access.limit, limit.count)
            return true
        }
        guard let skip = stages.first as? SkipStage else { return false }
        let (sum, overflow) = access.skip.addingReportingOverflow(skip.count)
        guard !overflow else { return false }
        if access.limit > 0 {
            guard access.limit > skip.count else { return false }
            access.limit -= skip.count
        }
        access.skip = sum
        return true
    }

    /// Returns the stages with each `$limit` directly behind a `$sort`, and each exclusion directly
    /// before an addition of the same fields, merged into it.
    private static func fusing(_ stages: [any PipelineStage]) -> [any PipelineStage] {
        var result: [any PipelineStage] = []
        for stage in stages {
            if let limit = stage as? LimitStage, var sort = result.last as? SortStage {
                sort.limit = sort.limit == 0 ? limit.count : min(sort.limit, limit.count)
                result[result.count - 1] = sort
            } else if let earlier = result.last as? ProjectStage,
                let merged = (stage as? ProjectStage)?.merging(earlier)
            {
                result[result.count - 1] = merged
            } else {
                result.append(stage)
            }
        }
        return result
    }
}
