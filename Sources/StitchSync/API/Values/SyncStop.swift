internal import BSONStore

/// Why the sync of a collection stopped, and what the app can answer.
///
/// A stopped collection deletes nothing and sends nothing; local reads and writes go on. It goes on by
/// itself when the remote is the one again that its documents were synced with. Otherwise
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
    /// Why: `.remoteChanged` or `.collectionDropped`.
    public let code: SyncError.Code
    /// The remote collection that the documents were synced with, where that is known.
    public let expected: RemoteIdentity
    /// The remote collection that was found.
    public let found: RemoteIdentity
    /// The confirmed documents that are kept here; of a file from before identities, those that the
    /// remote lacks.
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

    init(stored: BSONDocument) throws {
        guard let code = stored["code"]?.stringValue.flatMap(SyncError.Code.init),
            let expected = stored["expected"]?.documentValue,
            let found = stored["found"]?.documentValue, let count = stored["count"]?.int64Value
        else { throw SyncRecordTable.damaged("stop") }
        self.init(
            code, expected: try RemoteIdentity(stored: expected),
            found: try RemoteIdentity(stored: found), documentCount: Int(count))
    }

    /// What is stored of it.
    var document: BSONDocument {
        [
            "code": .string(code.rawValue), "expected": .document(expected.document),
            "found": .document(found.document), "count": .int64(Int64(documentCount)),
        ]
    }

    /// The same stop with what the remote is found to be by now.
    func finding(_ identity: RemoteIdentity) -> SyncStop {
        SyncStop(code, expected: expected, found: identity, documentCount: documentCount)
    }

    /// The error that the app is told.
    func error(in namespace: Namespace) -> SyncError {
        SyncError(
            code,
            "\(description) and nothing is sent; connect to the remote from before again, or call "
                + "adoptRemote() to upload what is here, or replaceFromRemote() to take what is there",
            namespace: namespace)
    }
}

extension RemoteIdentity {
    init(stored: BSONDocument) throws {
        switch (stored["uuid"], stored["kind"]?.stringValue) {
        case (.binary(let uuid)?, _): self = .known(uuid)
        case (nil, "notMade"): self = .notMade
        case (nil, "unknown"): self = .unknown
        default: throw SyncRecordTable.damaged("identity")
        }
    }

    /// What is stored of it.
    var document: BSONDocument {
        switch self {
        case .unknown: ["kind": "unknown"]
        case .notMade: ["kind": "notMade"]
        case .known(let uuid): ["uuid": .binary(uuid)]
        }
    }
}
