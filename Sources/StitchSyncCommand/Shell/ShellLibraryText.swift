#if CommandLine
    /// The scripts of ``ShellLibrary``.
    enum ShellLibraryText {
        /// The scripts, in the order in which they run.
        static let all = [globals, methods]
    }
#endif
