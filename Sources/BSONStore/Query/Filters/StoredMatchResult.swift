/// The result of matching stored bytes that were not validated.
package enum StoredMatchResult {
    /// A fault of the bytes that the match found.
    case damaged
    case passes
    /// The inspected part passes; the rest is not checked.
    case passesUnchecked
    case fails
}
