internal import BSONStore

/// The kind of a piece of work, which decides the threads that it may use.
enum WorkRank: Sendable, Hashable, CaseIterable {
    /// Work of a user.
    case ordinary
    /// Work of a user with an administrator's role: begins also when users' work takes all threads
    /// of its own.
    case ofOperator
    /// Signs of life, sign-in, and what ends other work.
    case vital
}

/// The sets of threads of a pool.
enum WorkLane: Sendable, Hashable, CaseIterable {
    /// Threads for work of all users.
    case common
    /// Threads for operators only.
    case operators
    /// Threads for vital work only.
    case vital
}
