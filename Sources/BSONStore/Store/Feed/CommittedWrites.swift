/// What a commit, or a group of commits, wrote.
package struct CommittedWrites: Sendable {
    /// The collections whose documents changed; `nil` where anything else may have changed.
    package let namespaces: Set<Namespace>?
    /// The number of changes that the commit added to the feed.
    package let changeCount: Int64
}
