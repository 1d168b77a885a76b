/// The index that a query must use, whatever the planner would choose.
public enum IndexHint: Sendable, Hashable {
    /// The index with a name.
    case name(String)
    /// The index with a key pattern.
    case keyPattern(BSONDocument)
    /// No index: a scan of all documents.
    case natural
    /// No index: a scan of all documents in reverse order of insertion.
    case reverseNatural

    /// Parses the `hint` of a command: a name, a key pattern, `{$natural: 1}` or `{$natural: -1}`.
    ///
    /// - Throws: `failedToParse` (9) for other values.
    public init(_ value: BSONValue) throws(StoreError) {
        if let name = value.stringValue {
            self = .name(name)
        } else if let pattern = value.documentValue {
            guard let direction = pattern["$natural"] else {
                self = .keyPattern(pattern)
                return
            }
            let isReversed = BSONOrder.compare(direction, 0) == .less
            self = isReversed ? .reverseNatural : .natural
        } else {
            throw StoreError(.failedToParse, "Hint must be a string or an object")
        }
    }

    /// Whether the hint asks for a scan of all documents.
    package var isNatural: Bool { self == .natural || self == .reverseNatural }
}
