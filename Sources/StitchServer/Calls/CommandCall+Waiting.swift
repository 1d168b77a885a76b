internal import BSONStore

extension CommandCall {
    /// Whether the command may have to wait for another session's transaction to end.
    ///
    /// Commands in a transaction never wait: they hold the store's write lock, or fail.
    func waitsToWrite(_ rule: CommandSignature) -> Bool {
        guard transaction?.isTransaction != true, !rule.traits.contains(.endsTransaction) else {
            return false
        }
        // With profiling on, every command writes a profile entry.
        if rule.name == "profile" || server.state.withLock({ $0.profiling[database] == 2 }) {
            return true
        }
        if Self.mayWrite.contains(rule.name) { return writesResults }
        return !rule.traits.isDisjoint(with: [.writes, .takesWriteConcern])
    }

    /// Commands that read, and that may also write their results to a collection.
    static let mayWrite: Set<String> = ["aggregate", "mapReduce"]

    /// Whether a command of that kind writes.
    var writesResults: Bool {
        if let out = body["out"] { return out.documentValue?["inline"] == nil }
        let last = body["pipeline"]?.arrayValue?.values.last?.documentValue?.keys.first
        return last == "$out" || last == "$merge"
    }
}
