public import BSONStore

/// One inconsistency in a store's sync tables; see Docs/SYNC.md, "Structural check".
///
/// ```swift
/// for finding in try await engine.verify() {
///     print(finding)
/// }
/// ```
public struct SyncFinding: Sendable, Hashable, CustomStringConvertible {
    /// A kind of inconsistency.
    ///
    /// ```swift
    /// let findings = try await engine.verify()
    /// let damaged = findings.filter { $0.kind == .damagedDocument }
    /// ```
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A record or event cannot be read (S1, S6).
        case unreadableRecord
        /// A change is queued, but the document equals the confirmed one (S2).
        case queuedWithoutChange
        /// No change is queued, but the document differs from the confirmed one (S2).
        case changeNotQueued
        /// An attempt has a change that neither the document nor the queue contains (S3).
        case strayAttempt
        /// A document is on the device without an id, a subscription or a change that keeps it.
        case unclaimedDocument
        /// A document of a synced collection has no record (S4).
        case documentWithoutRecord
        /// A document holds a version field (S5).
        case versionInContent
        /// A local document is missing although it was not deleted.
        case localDocumentMissing
        /// A document's checksum does not match its bytes (S8).
        case damagedDocument
        /// A record's key differs from its document's `_id` (S6).
        case keyMismatch
        /// An event's sequence number is greater than the last assigned one (S7).
        case eventAfterEnd
    }

    /// The kind of the inconsistency.
    public let kind: Kind
    /// The collection concerned.
    public let namespace: Namespace
    /// The document's `_id`; `nil` where it cannot be read.
    public let documentID: BSONValue?
    /// An explanation in one sentence.
    public let message: String

    /// The collection, the document and the explanation.
    public var description: String {
        "\(namespace) \(documentID.map { $0.extendedJSON(.relaxed) } ?? "?"): \(message)"
    }
}
