/// Says how much an explanation of a query tells.
public enum ExplainVerbosity: String, Sendable, Hashable {
    /// The plan only.
    case queryPlanner
    /// The plan, and what carrying it out took.
    case executionStats
    /// As `executionStats`, since other plans are not tried.
    case allPlansExecution
}

/// Names what is explained.
public enum ExplainedCommand: Sendable, Hashable {
    /// The documents.
    case find
    /// How many they are.
    case count
    /// The different values of a field.
    case distinct(String)
}
