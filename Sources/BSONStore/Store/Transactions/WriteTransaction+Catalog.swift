extension WriteTransaction {
    /// Creates a collection or view.
    ///
    /// - Throws: `namespaceExists` (48), `invalidNamespace` (73), `invalidOptions` (72) for a
    ///   validator in one of the server's own databases.
    public func createCollection(
        _ namespace: Namespace, _ options: CollectionOptions = .none
    ) throws(StoreError) {
        try catalogWriter.createCollection(namespace, options)
    }

    /// Removes a collection or view with its documents and indexes.
    ///
    /// The feed records it as one change.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public func dropCollection(_ namespace: Namespace) throws(StoreError) -> Bool {
        try catalogWriter.dropCollection(namespace)
    }

    /// Renames a collection, also to another database; its indexes stay.
    ///
    /// - Parameter dropTarget: whether to drop a collection that has the new name.
    /// - Throws: `namespaceNotFound` (26), `namespaceExists` (48), `illegalOperation` (20) for the
    ///   same name, `invalidNamespace` (73), 166 for a view.
    public func renameCollection(
        _ namespace: Namespace, to target: Namespace, dropTarget: Bool = false
    ) throws(StoreError) {
        try catalogWriter.renameCollection(
            namespace, to: target, dropTarget: dropTarget)
    }

    /// Removes all collections of a database.
    ///
    /// - Returns: whether the database had a collection.
    @discardableResult
    public func dropDatabase(_ database: String) throws(StoreError) -> Bool {
        try catalogWriter.dropDatabase(database, among: try collections())
    }

    /// Changes options of a collection as the command `collMod` does: `validator`,
    /// `validationLevel`, `validationAction`, `changeStreamPreAndPostImages`, `cappedSize`,
    /// `cappedMax`, `viewOn`, `pipeline`, and `expireAfterSeconds` or `hidden` of an `index`.
    ///
    /// - Returns: an index's options before and after, as the command answers.
    /// - Throws: `namespaceNotFound` (26), `indexNotFound` (27), `invalidOptions` (72), and as
    ///   ``CollectionOptions/init(_:)`` does.
    @discardableResult
    public func modifyCollection(
        _ namespace: Namespace, _ changes: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        try catalogWriter.modifyCollection(namespace, changes)
    }

    /// Creates an index over the existing documents; creates the collection when it is missing.
    ///
    /// - Parameter progress: receives the number of documents read, every thousand; an error that
    ///   it throws cancels the build.
    /// - Returns: whether the index is new; the same index under the same name is not an error.
    /// - Throws: 67, 85 (IndexOptionsConflict), 86 (IndexKeySpecsConflict), 11000 for a unique
    ///   index over equal keys, 171 for parallel arrays, 166 for a view.
    @discardableResult
    public func createIndex(
        _ namespace: Namespace, _ definition: IndexDefinition,
        progress: (Int) throws -> Void = { _ in }
    ) throws -> Bool {
        try indexCatalog.createIndex(namespace, definition, progress: progress)
    }

    /// Creates indexes as the command `createIndexes` does: change streams report those over
    /// documents as one event, those of an empty collection one by one.
    ///
    /// - Throws: as ``createIndex(_:_:progress:)`` does.
    package func createIndexes(_ namespace: Namespace, _ definitions: [IndexDefinition]) throws {
        try indexCatalog.createIndexes(namespace, definitions)
    }

    /// Removes an index by its name.
    ///
    /// - Throws: 26 without the collection, 27 (IndexNotFound) without the index, 72
    ///   (InvalidOptions) for the `_id` index.
    public func dropIndex(_ namespace: Namespace, name: String) throws(StoreError) {
        _ = try indexCatalog.dropIndexes(namespace, [.string(name)], isAll: name == "*")
    }

    /// Removes all indexes except the `_id` index.
    ///
    /// - Throws: 26 when there is no such collection.
    public func dropIndexes(_ namespace: Namespace) throws(StoreError) {
        try dropIndexes(namespace, "*")
    }

    /// Removes the indexes that the command `dropIndexes` names (`"*"`, a name, several names or a
    /// key pattern), or none of them.
    ///
    /// - Returns: how many indexes the collection had, including the `_id` index.
    /// - Throws: 26, 27, 72, 14 and 181 (AmbiguousIndexKeyPattern) with MongoDB's messages.
    @discardableResult
    public func dropIndexes(
        _ namespace: Namespace, _ index: BSONValue
    ) throws(StoreError) -> Int {
        try indexCatalog.dropIndexes(namespace, index)
    }
}
