public import BSONStore

/// Names one thing in a store's sync tables that should not be; see Docs/SYNC.md, "Structural check".
public struct SyncFinding: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of things that are looked for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A record or event cannot be read (S1, S6).
        case unreadableRecord
        /// A change is queued, but the document is what the remote confirmed (S2).
        case queuedWithoutChange
        /// No change is queued, but the document differs from what the remote confirmed (S2).
        case changeNotQueued
        /// An attempt intends what neither the document nor the queue know of (S3).
        case strayAttempt
        /// A document is kept here by no id, no subscription and no change.
        case unclaimedDocument
        /// A document of a synced collection has no record (S4).
        case documentWithoutRecord
        /// A document holds a version field (S5).
        case versionInContent
        /// A document that should be here is missing, though nobody deleted it.
        case localDocumentMissing
        /// A document's bytes are not those that were written, by its checksum (S8).
        case damagedDocument
        /// A record's key is not its document's `_id` (S6).
        case keyMismatch
        /// An event's sequence is beyond the last that was given out (S7).
        case eventAfterEnd
    }

    /// What was found.
    public let kind: Kind
    /// The collection.
    public let namespace: Namespace
    /// The document, where its id could be read.
    public let documentID: BSONValue?
    /// A sentence for people.
    public let message: String

    /// The collection, the document and the sentence.
    public var description: String {
        "\(namespace) \(documentID.map { $0.extendedJSON(.relaxed) } ?? "?"): \(message)"
    }
}
