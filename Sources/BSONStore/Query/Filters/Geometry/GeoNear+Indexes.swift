extension GeoNear {
    /// The error of a filter whose matches cannot be in the order of their distances.
    ///
    /// The text is MongoDB's, without a space before "for".
    package static let notAllowed = StoreError(
        .nearNotAllowed,
        "$geoNear, $near, and $nearSphere are not allowed in this context, as these operators "
            + "require sorting geospatial data. If you do not need sort, consider using "
            + "$geoWithin instead. Check out "
            + "https://dochub.mongodb.org/core/near-sort-operation and "
            + "https://dochub.mongodb.org/core/nearSphere-sort-operationfor more details.")

    /// The error of a query without an index that measures its distances.
    package static let noIndex = StoreError(
        .noQueryExecutionPlans,
        "error processing query: planner returned error :: caused by :: unable to find index for "
            + "$geoNear query")

    /// Whether an index of a kind can answer: 2dsphere for points on the globe, 2d for pairs of
    /// coordinates in the plane, and either for pairs on the globe.
    ///
    /// Source: the server's `planner_ixselect.cpp`; `jstests/core/geonear_key.js`.
    package func isMeasured(by kind: GeoIndexField.Kind) -> Bool {
        switch center {
        case .meters: kind == .sphere
        case .radians: true
        case .plane: kind == .plane
        }
    }
}
