/// The level of detail of an explanation.
public enum ExplainVerbosity: String, Sendable, Hashable {
    /// The plan only.
    case queryPlanner
    /// The plan and the counts of its execution.
    case executionStats
    /// The same as `executionStats`, because other plans are not tried.
    case allPlansExecution
}

/// The command to explain.
public enum ExplainedCommand: Sendable, Hashable {
    /// Find the documents.
    case find
    /// Count the documents.
    case count
    /// Collect the distinct values of a field.
    case distinct(String)
}
