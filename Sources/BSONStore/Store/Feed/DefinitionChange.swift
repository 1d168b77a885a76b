/// A change of a collection's definition: created, indexed, modified.
///
/// It has no position of its own in the feed of changes; it follows the change at a position.
package struct DefinitionChange: Sendable, Hashable {
    /// The kind of a definition change.
    package enum Kind: Int64, Sendable, Hashable {
        /// The collection or view was created.
        case create = 1
        /// An index was created.
        case createIndex = 2
        /// An index was dropped.
        case dropIndex = 3
        /// The options changed.
        case modify = 4
        /// The view was dropped.
        case dropView = 5
    }

    /// The number of the change; numbers grow and are never reused.
    package let id: Int64
    /// The feed position of the change that it follows.
    package let position: Int64
    /// The collection or view.
    package let namespace: Namespace
    /// The kind of change.
    package let kind: Kind
    /// The details, as in MongoDB's `operationDescription`.
    package let description: BSONDocument
    /// The earlier values that a modification changed; `nil` for other kinds.
    package let before: BSONDocument?
    /// The collection's UUID; `nil` for a view.
    package let uuid: BSONValue?
    /// The comment of the transaction; see ``WriteTransaction/comment``.
    package let comment: BSONValue?
}

extension DefinitionChange {
    init(_ statement: borrowing SQLiteStatement) throws(StoreError) {
        id = statement.int64(0)
        position = statement.int64(1)
        namespace = Namespace(statement.string(2), statement.string(3))
        guard let kind = Kind(rawValue: statement.int64(4)) else {
            throw StoreError(.corrupt, "The change of a definition \(id) has an unknown kind")
        }
        self.kind = kind
        let details: BSONDocument
        do throws(BSONError) {
            details = try BSONDocument(validating: statement.bytes(5))
        } catch {
            throw StoreError(
                .corrupt, "The change of a definition \(id) is not valid BSON",
                namespace: namespace, underlying: error)
        }
        description = details["description"]?.documentValue ?? [:]
        before = details["before"]?.documentValue
        uuid = details["uuid"]
        comment = details["comment"]
    }
}
