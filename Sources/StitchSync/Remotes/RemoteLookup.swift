public import BSONStore

/// A remote's answer to the fetch of one document.
///
/// ```swift
/// switch try await collection.find(ids: [1])[0] {
/// case .found(let document): print(document)
/// case .absent, .hidden: print("not readable")
/// }
/// ```
public enum RemoteLookup: Sendable, Hashable {
    /// The document, with its version field.
    case found(BSONDocument)
    /// Proof that the document does not exist. A list that may be truncated proves nothing.
    case absent
    /// The user may not read the document, if it exists. Only a remote with access rules answers
    /// so.
    case hidden
}
