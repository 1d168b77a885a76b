/// Gives a pipeline the documents of collections and takes those that it writes.
///
/// A store's transactions are sources; see `ReadTransaction+Aggregation.swift`.
protocol AggregationSource: AnyObject {
    /// Gives the documents of a collection to a body until it returns false.
    ///
    /// - Throws: what the body throws, and what the source says.
    func forEach(
        _ namespace: Namespace, _ selection: AggregationSelection,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError)

    /// A filter with what the collection knows for it: its collation and its index on texts.
    func resolved(_ filter: Filter, _ namespace: Namespace) throws(StoreError) -> Filter

    /// How many documents a selection has, without giving them.
    func count(
        _ namespace: Namespace, _ selection: AggregationSelection
    ) throws(StoreError) -> Int

    /// Whether documents can be found by the values of a field without reading all of them.
    func isIndexed(_ namespace: Namespace, _ field: String) throws(StoreError) -> Bool

    /// Whether a unique index has exactly these fields, so that `$merge` can match on them.
    func isUnique(_ namespace: Namespace, _ fields: [String]) throws(StoreError) -> Bool

    /// The fields of each index that queries use whose places are indexed; `nil` when the collection
    /// is not there.
    func placeIndexes(_ namespace: Namespace) throws(StoreError) -> [[GeoIndexField]]?

    /// Takes the documents of `$merge` and `$out`.
    ///
    /// - Throws: `illegalOperation` when nothing can be written here.
    func target() throws(StoreError) -> any AggregationTarget
}

/// Says which documents of a collection are wanted, in which order, and how many.
struct AggregationSelection {
    var filter = Filter.all
    /// The order; without one, the order in which the documents were inserted.
    var sort: SortOrder?
    var skip = 0
    /// The most documents that are wanted; 0 for all.
    var limit = 0
    /// Which index is read; without one, the source chooses.
    var hint: IndexHint?
    /// What expressions in the filter see.
    var frame = ExpressionFrame()
}

/// Takes the documents that `$merge` and `$out` write.
protocol AggregationTarget: AnyObject {
    /// The first document that passes a filter.
    func first(_ namespace: Namespace, _ filter: Filter) throws(StoreError) -> BSONDocument?

    /// Adds a document.
    func add(_ namespace: Namespace, _ document: BSONDocument) throws(StoreError)

    /// Puts a document in the place of the one with the same `_id`.
    func replace(
        _ namespace: Namespace, _ old: BSONDocument, by new: BSONDocument
    ) throws(StoreError)

    /// Makes the documents the only ones of a collection, which is made when it is not there.
    func fill(_ namespace: Namespace, _ documents: [BSONDocument]) throws(StoreError)

    /// Returns a document with the fields of another set, as an update's `$set` does; `nil` where that
    /// changes nothing.
    func setting(
        _ fields: BSONDocument, in existing: BSONDocument
    ) throws(StoreError) -> BSONDocument?
}
