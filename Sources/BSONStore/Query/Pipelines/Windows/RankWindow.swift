/// The rank or number of each document in its partition.
struct RankWindow: WindowFunction {
    let name: String

    func values(_ partition: WindowPartition, _: PipelineRun) -> [BSONValue?] {
        var rank = 0
        var values: [BSONValue?] = []
        for place in partition.documents.indices {
            let isNew =
                place == 0 || partition.sortKeys[place] != partition.sortKeys[place - 1]
            switch name {
            case "$documentNumber": rank = place + 1
            case "$denseRank": rank += isNew ? 1 : 0
            default: rank = isNew ? place + 1 : rank
            }
            values.append(.count(rank))
        }
        return values
    }
}
