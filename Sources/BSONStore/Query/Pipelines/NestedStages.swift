/// The stages of a pipeline and of the pipelines inside them (`$facet`, `$lookup`, `$unionWith`).
package enum NestedStages {
    /// A stage as it was written, such as `$limit` with the argument 3.
    package typealias Stage = (name: String, argument: BSONValue)

    /// Returns the stages, each before those inside it; what is not a stage is left out.
    package static func list(_ pipeline: BSONArray) -> [Stage] {
        var stages: [Stage] = []
        collect(pipeline, into: &stages)
        return stages
    }

    private static func collect(_ pipeline: BSONArray, into stages: inout [Stage]) {
        for stage in pipeline {
            guard let (name, argument) = stage.documentValue?.first(where: { _ in true }) else {
                continue
            }
            stages.append((name, argument))
            for inner in pipelines(in: name, argument) { collect(inner, into: &stages) }
        }
    }

    private static func pipelines(in name: String, _ argument: BSONValue) -> [BSONArray] {
        switch name {
        case "$facet": argument.documentValue?.compactMap(\.value.arrayValue) ?? []
        case "$lookup", "$unionWith":
            argument.documentValue?["pipeline"]?.arrayValue.map { [$0] } ?? []
        default: []
        }
    }
}
