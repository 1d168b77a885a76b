public import BSONStore

/// The handling of a user's documents when the user deletes the account.
public struct AccountDeletionPolicy: Sendable, Hashable {
    /// The handling of the documents of a collection that belong to the user.
    public enum Action: Sendable, Hashable {
        /// They are deleted.
        case delete
        /// They stay as they are.
        case keep
        /// They then belong to the user with an id.
        case handOver(to: String)
    }

    /// The documents of one collection.
    public struct CollectionRule: Sendable, Hashable {
        /// The collection.
        public let namespace: Namespace
        /// The field that holds the id of the user to whom a document belongs, `%%user.id`.
        public let ownerField: String
        /// The handling.
        public let action: Action
    }

    /// The collections with documents of users, in the order of the file.
    public let collections: [CollectionRule]
}
