internal import BSONStore

extension CommandCall {
    /// Whether the command may have to wait for the end of somebody else's transaction.
    ///
    /// Those of a transaction never wait: they have the store for themselves, or fail.
    func waitsToWrite(_ rule: CommandDefinition) -> Bool {
        guard transaction?.isTransaction != true, !rule.traits.contains(.endsTransaction) else {
            return false
        }
        // Each command of a profiled database writes what it did.
        if rule.name == "profile" || server.state.withLock({ $0.profiling[database] == 2 }) {
            return true
        }
        if Self.mayWrite.contains(rule.name) { return writesResults }
        return !rule.traits.isDisjoint(with: [.writes, .takesWriteConcern])
    }

    /// Commands that read, and write what they find where they are told to.
    static let mayWrite: Set<String> = ["aggregate", "mapReduce"]

    /// Whether such a command writes.
    var writesResults: Bool {
        if let out = body["out"] { return out.documentValue?["inline"] == nil }
        let last = body["pipeline"]?.arrayValue?.values.last?.documentValue?.keys.first
        return last == "$out" || last == "$merge"
    }
}
