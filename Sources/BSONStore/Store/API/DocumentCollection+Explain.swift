extension DocumentCollection {
    /// Tells how a query is answered, in the shape of the command `explain`.
    ///
    /// - Throws: for what is no filter, and what the store says.
    public func explain(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        verbosity: ExplainVerbosity = .queryPlanner, command: ExplainedCommand = .find
    ) throws -> BSONDocument {
        let filter = try Filter(filter)
        return try store.read { transaction in
            try transaction.explain(
                namespace, filter: filter, options: options, verbosity: verbosity,
                command: command)
        }
    }
}
