#if CommandLine && Server
    import Foundation

    /// The reaction of the process to crash signals.
    enum CrashSignals {
        /// Makes a crash end the process immediately.
        ///
        /// The runtime's own handler first prints a backtrace of each thread, which takes long.
        /// Meanwhile the port stays open and clients wait. The signal itself informs the
        /// supervisor, and allows a core dump.
        static func endAtOnce() {
            for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT] {
                signal(number, SIG_DFL)
            }
        }
    }
#endif
