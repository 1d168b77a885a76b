internal import BSONStore

/// The reason why a collection's sync stopped.
///
/// A stopped collection deletes and uploads nothing; local reads and writes continue. Its sync
/// continues by itself once the engine connects to the original remote again. Otherwise
/// ``SyncCollection/adoptRemote()`` or ``SyncCollection/replaceFromRemote()`` ends the stop.
///
/// ```swift
/// if let stop = try await todos.status().stop {
///     print(stop)  // remoteChanged: synced with 6f1c…, the remote is 90ab…; 5000 documents are kept
///     try await todos.adoptRemote()
/// }
/// ```
///
/// Source: Docs/SYNC.md, "Another remote".
public struct SyncStop: Sendable, Hashable, CustomStringConvertible {
    /// The kind of the stop: `.remoteChanged` or `.collectionDropped`.
    public let code: SyncError.Code
    /// The remote collection that the documents were synced with, where known.
    public let expected: RemoteIdentity
    /// The remote collection that was found.
    public let found: RemoteIdentity
    /// The number of confirmed local documents; where the identity of their collection was never
    /// confirmed, the number of those that the remote lacks.
    public let documentCount: Int

    /// The code, both identities and the count.
    public var description: String {
        let reason =
            code == .collectionDropped ? "the remote dropped or renamed the collection; " : ""
        return "\(code.rawValue): \(reason)synced with \(expected), the remote is \(found); "
            + "\(documentCount) document\(documentCount == 1 ? " is" : "s are") kept"
    }

    init(
        _ code: SyncError.Code, expected: RemoteIdentity?, found: RemoteIdentity,
        documentCount: Int
    ) {
        self.code = code
        self.expected = expected ?? .unknown
        self.found = found
        self.documentCount = documentCount
    }

    /// The stored form.
    var document: BSONDocument {
        [
            "code": .string(code.rawValue), "expected": .document(expected.document),
            "found": .document(found.document), "count": .int64(Int64(documentCount)),
        ]
    }

    /// Returns the stop with the remote's current identity.
    func finding(_ identity: RemoteIdentity) -> SyncStop {
        SyncStop(code, expected: expected, found: identity, documentCount: documentCount)
    }

    /// Returns the error for the app.
    func error(in namespace: Namespace) -> SyncError {
        SyncError(
            code,
            "\(description) and nothing is sent; connect to the remote from before again, or call "
                + "adoptRemote() to upload what is here, or replaceFromRemote() to take what is there",
            namespace: namespace)
    }
}

extension RemoteIdentity {
    /// The stored form.
    var document: BSONDocument {
        switch self {
        case .unknown: ["kind": "unknown"]
        case .notMade: ["kind": "notMade"]
        case .known(let uuid): ["uuid": .binary(uuid)]
        }
    }
}
