public import BSONStore

/// Answers a look for one document.
public enum RemoteLookup: Sendable, Hashable {
    /// The document, with its version field.
    case found(BSONDocument)
    /// There is none, by proof: never the answer of a list that could be cut short.
    case absent
    /// The user sees none; there may be one that rules hide. Only a remote that knows rules says so.
    case hidden
}
