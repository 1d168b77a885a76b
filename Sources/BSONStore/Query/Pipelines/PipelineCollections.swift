/// The collections that the stages of a pipeline read in addition to the pipeline's own.
package enum PipelineCollections {
    /// Returns the names of the collections that stages, including those inside them, read.
    package static func read(by stages: BSONArray) -> [String] {
        var names: [String] = []
        for stage in stages { collect(stage, into: &names) }
        return names
    }

    private static func collect(_ stage: BSONValue, into names: inout [String]) {
        guard let (name, value) = stage.documentValue?.first(where: { _ in true }) else { return }
        let argument = value.documentValue
        switch name {
        case "$lookup", "$graphLookup": append(argument?["from"]?.stringValue, to: &names)
        case "$unionWith":
            append(value.stringValue ?? argument?["coll"]?.stringValue, to: &names)
        case "$facet":
            for (_, inner) in argument ?? [:] {
                for stage in inner.arrayValue ?? [] { collect(stage, into: &names) }
            }
            return
        default: return
        }
        for stage in argument?["pipeline"]?.arrayValue ?? [] { collect(stage, into: &names) }
    }

    private static func append(_ name: String?, to names: inout [String]) {
        if let name { names.append(name) }
    }
}
