internal import BSONStore

extension ConflictHandler {
    /// Keeps the edition with the greater value; when both are equal, the remote's edition.
    ///
    /// An edit wins against a delete.
    ///
    /// - Parameter value: the value to compare, such as the date of the last change.
    public static func newest<Value: Comparable & SendableMetatype>(
        by value: @escaping @Sendable (Document) -> Value
    ) -> Self {
        Self(immediate: { conflict in
            switch (conflict.local, conflict.remote) {
            case (let local?, let remote?):
                value(local) > value(remote) ? .useLocal : .useRemote
            case (.some, nil): .useLocal
            case (nil, _): .useRemote
            }
        })
    }
}

extension ConflictHandler {
    /// Keeps the edition whose value at a dotted path is greater in MongoDB's order; when both are
    /// equal, the remote's edition.
    ///
    /// An edit wins against a delete, a value against a missing one.
    public static func newest(by path: String) -> Self {
        Self(.newest(path: path))
    }
}
