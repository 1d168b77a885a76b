/// A source that provides the documents of collections and stores those that a pipeline writes.
///
/// A store's transactions are sources; see `ReadTransaction+Aggregation.swift`.
package protocol AggregationSource: AnyObject {
    /// Calls a body with the documents of a collection until it returns false.
    ///
    /// - Throws: the errors of the body and of the source.
    func forEach(
        _ namespace: Namespace, _ selection: AggregationSelection,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError)

    /// Returns a filter with the collection's collation and text index.
    func completed(_ filter: Filter, _ namespace: Namespace) throws(StoreError) -> Filter

    /// Returns the reader of the metadata that depends on where the documents of a selection are
    /// stored; `nil` where they are stored nowhere.
    func placement(
        _ namespace: Namespace, _ selection: AggregationSelection, _ requested: RequestedMetadata
    ) throws(StoreError) -> (any DocumentPlacement)?

    /// Returns the number of documents in a selection, without reading them.
    func count(
        _ namespace: Namespace, _ selection: AggregationSelection
    ) throws(StoreError) -> Int

    /// Whether an index finds documents by the values of a field.
    func isIndexed(_ namespace: Namespace, _ field: String) throws(StoreError) -> Bool

    /// Whether a view, or one below it, chooses its documents or their values at random.
    func choosesAtRandom(_ namespace: Namespace) throws(StoreError) -> Bool

    /// Returns which values of fields a unique index of exactly these fields and of a collation
    /// keeps apart, so that `$merge` can match on them.
    func uniqueness(
        _ namespace: Namespace, _ fields: [String], _ collation: Collation?
    ) throws(StoreError) -> FieldUniqueness

    /// Returns the fields of each geospatial index that queries use; `nil` if the collection does
    /// not exist.
    func placeIndexes(_ namespace: Namespace) throws(StoreError) -> [[GeoIndexField]]?

    /// Returns the target for the documents of `$merge` and `$out`.
    ///
    /// - Throws: `illegalOperation` if this source is read-only.
    func target() throws(StoreError) -> any AggregationTarget
}

/// A reader of the metadata that depends on the stored place of a document and on the plan.
package protocol DocumentPlacement {
    /// Returns the values of `$meta` by name.
    ///
    /// - Throws: the errors of the store.
    func metadata(of document: BSONDocument) throws(StoreError) -> [String: BSONValue]
}

/// The values that a unique index keeps apart.
package enum FieldUniqueness: Sendable {
    /// No values: there is no such index.
    case none
    /// Those that are neither null nor missing.
    case ofValues
    /// All.
    case ofAll
}

/// The filter, order and maximum number of documents to read from a collection.
package struct AggregationSelection {
    package var filter = Filter.all
    /// The order; `nil` for the order of insertion.
    package var sort: SortOrder?
    /// The maximum size in memory of what the sort holds, in bytes.
    package var sortBytesMax = DocumentSorter.bytesMax
    package var skip = 0
    /// The maximum number of documents; 0 for all.
    package var limit = 0
    /// The index to read; `nil` lets the source choose.
    package var hint: IndexHint?
    /// The frame for expressions in the filter.
    package var frame = ExpressionFrame()
}

/// A target for the documents that `$merge` and `$out` write.
package protocol AggregationTarget: AnyObject {
    /// Returns the first document that passes a filter.
    func first(_ namespace: Namespace, _ filter: Filter) throws(StoreError) -> BSONDocument?

    /// Inserts a document.
    func add(_ namespace: Namespace, _ document: BSONDocument) throws(StoreError)

    /// Replaces the document with the same `_id`.
    func replace(
        _ namespace: Namespace, _ old: BSONDocument, by new: BSONDocument
    ) throws(StoreError)

    /// Replaces the content of a collection, which is created if it does not exist.
    func fill(_ namespace: Namespace, _ documents: [BSONDocument]) throws(StoreError)

    /// Returns a document with the fields of another set, as an update's `$set` does; `nil` where that
    /// changes nothing.
    func setting(
        _ fields: BSONDocument, in existing: BSONDocument
    ) throws(StoreError) -> BSONDocument?
}
