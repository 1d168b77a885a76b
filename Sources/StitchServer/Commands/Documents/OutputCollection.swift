internal import BSONStore

/// The collection that the last stage of a pipeline writes.
///
/// Source: the server's `document_source_out.cpp` and `document_source_merge.cpp`.
struct OutputCollection {
    private let namespace: Namespace
    private let stage: String

    init(_ namespace: Namespace, by stage: String) {
        self.namespace = namespace
        self.stage = stage
    }

    /// Refuses the server's own collections, such as that of the users.
    ///
    /// - Throws: 17385, 31321 for `$out`, 31319, 31320 for `$merge`.
    func checkName() throws(CommandFailure) {
        let (isOut, verb) = stage == "$out" ? (true, "Can't") : (false, "Cannot")
        guard !namespace.collection.hasBytePrefix("system.") else {
            throw CommandFailure(
                isOut ? 17385 : 31319,
                "\(verb) \(stage) to special collection: \(namespace.collection)")
        }
        guard !ChangeStreamScope.internalDatabases.contains(namespace.database) else {
            throw CommandFailure(
                isOut ? 31321 : 31320,
                "\(verb) \(stage) to internal database: \(namespace.database)")
        }
    }

    /// Refuses collections that cannot be written, or cannot be replaced as a whole.
    ///
    /// - Throws: 166 for a view, 17152 for a capped collection under `$out`.
    func check(_ transaction: ReadTransaction) throws(StoreError) {
        guard let options = try transaction.options(namespace) else { return }
        guard options.view == nil else {
            throw .view(namespace).during(.execution)
        }
        guard options.capped == nil || stage != "$out" else {
            throw StoreError(
                .outputIsCapped,
                "namespace '\(namespace)' is capped so it can't be used for $out"
            ).during(.execution)
        }
    }
}
