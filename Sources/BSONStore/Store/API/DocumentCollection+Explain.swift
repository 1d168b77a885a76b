extension DocumentCollection {
    /// Returns a query's plan in the shape of the command `explain`.
    ///
    /// - Throws: for an invalid filter, and the store's errors.
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
