/// The collections that the stages of a pipeline read in addition to the pipeline's own.
package enum PipelineCollections {
    /// Returns the names of the collections that stages, including those inside them, read.
    package static func read(by stages: BSONArray) -> [String] {
        NestedStages.list(stages).compactMap { name, argument in
            switch name {
            case "$lookup", "$graphLookup": argument.documentValue?["from"]?.stringValue
            case "$unionWith":
                argument.stringValue ?? argument.documentValue?["coll"]?.stringValue
            default: nil
            }
        }
    }
}
