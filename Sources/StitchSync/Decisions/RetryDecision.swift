/// The facts about a rejected write to repeat, and the current document.
struct RetryFacts: Hashable {
    /// Whether the write wanted a document, not a delete.
    var wantsDocument: Bool
    /// Whether the remote held the document at the time of the write.
    var hadBase: Bool
    /// Whether the document exists locally now.
    var existsNow: Bool
    /// Whether the current document equals the base of the write.
    var isAtBase: Bool
}

/// The way in which a rejected write is repeated.
enum RetryDecision: String, CaseIterable {
    /// Do nothing: the document is deleted already.
    case nothing
    /// Store the whole wanted document.
    case put
    /// Apply the same changes to the current document.
    case merge
    /// Delete the document.
    case delete
    /// Fail: another document has the `_id` now.
    case occupied

    static func decide(_ facts: RetryFacts) -> Self {
        guard facts.wantsDocument else { return facts.existsNow ? .delete : .nothing }
        guard facts.existsNow else { return .put }
        guard facts.hadBase else { return .occupied }
        return facts.isAtBase ? .put : .merge
    }
}
