/// A query of a collection together with its plan, which is valid in the transaction that made it.
package struct PlannedQuery {
    let namespace: Namespace
    /// The filter with the collection's collation and text index.
    package let filter: Filter
    /// The order of the documents; `nil` for the order in which the plan reads them.
    let order: SortOrder?
    /// The options, with the projection bound to the collation and time of the filter.
    package let options: FindOptions
    /// The rows to read.
    var plan: QueryPlan

    /// Whether the plan reads the documents in the requested order.
    var isInOrder: Bool { order == nil || plan.isSorted }
}
