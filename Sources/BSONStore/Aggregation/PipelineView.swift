extension Pipeline {
    /// Checks that stages can be those of a view.
    ///
    /// - Throws: 167 for stages that write or watch, `invalidNamespace` (73) for those that have no
    ///   collection, and what reading the stages throws.
    static func check(_ stages: BSONArray, ofView namespace: Namespace) throws(StoreError) {
        let names = stages.map { $0.documentValue?.keys.first ?? "" }
        guard names.first != "$changeStream" else {
            throw .location(167, "$changeStream cannot be used in a view definition")
        }
        _ = try Pipeline(stages)
        for (place, name) in names.enumerated() {
            guard let rule = StageRule.all[name] else { continue }
            guard rule.position != .last else {
                throw .location(
                    167,
                    "The aggregation stage \(name) in location \(place) of the pipeline cannot be "
                        + "used in the view definition of \(namespace) because it writes to disk")
            }
            guard !rule.isCollectionless else {
                throw StoreError(
                    .invalidNamespace, "\(name) cannot be used in a view definition")
            }
        }
    }
}
