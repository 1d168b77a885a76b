internal import BSONStore

extension CommandCall {
    /// Whether the command may have to wait for another session's transaction to end.
    ///
    /// Commands in a transaction never wait: they hold the store's write lock, or fail.
    var waitsToWrite: Bool {
        guard transaction?.isTransaction != true, !signature.traits.contains(.endsTransaction)
        else {
            return false
        }
        // With profiling on, every command writes a profile entry.
        if signature.name == "profile" || server.state.withLock({ $0.profiling[database] == 2 }) {
            return true
        }
        if signature.traits.contains(.writesResults) { return writesResults }
        return !signature.traits.isDisjoint(with: [.writes, .takesWriteConcern])
    }

    /// Whether a command that may write its results does so.
    var writesResults: Bool {
        if let out = body["out"] { return out.documentValue?["inline"] == nil }
        let last = body["pipeline"]?.arrayValue?.values.last?.documentValue?.keys.first
        return last == "$out" || last == "$merge"
    }
}
