#if CommandLine && Server
    import Foundation

    /// Says what a crash does to the process.
    enum CrashSignals {
        /// Lets a crash end the process at once.
        ///
        /// The runtime's own handler writes down where each thread stands first, which takes long;
        /// meanwhile the port is held and clients wait for answers. The signal is what tells whoever
        /// supervises the process, and lets the system write a core.
        static func endAtOnce() {
            for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT] {
                signal(number, SIG_DFL)
            }
        }
    }
#endif
