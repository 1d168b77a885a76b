internal import BSONStore

extension CommandCall {
    /// Whether the command may have to wait for the end of somebody else's transaction.
    ///
    /// Those of a transaction never wait: they have the store for themselves, or fail.
    func waitsToWrite(_ rule: CommandRule) -> Bool {
        guard transaction?.isTransaction != true, !rule.traits.contains(.endsTransaction) else {
            return false
        }
        // Each command of a profiled database writes what it did.
        if rule.name == "profile" || server.state.withLock({ $0.profiling[database] == 2 }) {
            return true
        }
        if rule.name == "aggregate" { return writesFromPipeline }
        return !rule.traits.isDisjoint(with: [.writes, .takesWriteConcern])
    }

    /// Whether the last stage of a pipeline writes.
    var writesFromPipeline: Bool {
        let last = body["pipeline"]?.arrayValue?.values.last?.documentValue?.keys.first
        return last == "$out" || last == "$merge"
    }
}
