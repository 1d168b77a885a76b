/// Tells one change of what a collection is, not of what is in it: made, indexed, modified.
///
/// It has no position of its own in the feed of changes: it stands behind one.
package struct DefinitionChange: Sendable, Hashable {
    /// What happened.
    package enum Kind: Int64, Sendable, Hashable {
        /// The collection or view is new.
        case create = 1
        /// It has an index more.
        case createIndex = 2
        /// It has an index less.
        case dropIndex = 3
        /// It has other options.
        case modify = 4
        /// The view is gone.
        case dropView = 5
    }

    /// The number of the change; it grows with each and is never used twice.
    package let id: Int64
    /// The position in the feed of the change that it stands behind.
    package let position: Int64
    /// The collection or view.
    package let namespace: Namespace
    /// What happened.
    package let kind: Kind
    /// What exactly, as MongoDB's `operationDescription` says it.
    package let description: BSONDocument
    /// What a modification changed, as it was before; `nil` for the others.
    package let before: BSONDocument?
    /// The collection's UUID, `nil` for a view.
    package let uuid: BSONValue?
    /// What the transaction said about itself; see ``WriteTransaction/comment``.
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
