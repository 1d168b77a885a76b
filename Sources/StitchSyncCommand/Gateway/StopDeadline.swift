#if CommandLine
    import BSONStore
    import Foundation

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// The end of a gateway whose upstream does not answer while the gateway stops.
    ///
    /// A thread that waits in libmongoc cannot be interrupted. A gateway keeps nothing that must be
    /// saved.
    enum StopDeadline {
        /// Ends the process when it has not ended by itself.
        static func begin(_ limit: Duration) {
            let end = ContinuousClock.now + limit
            // Without a thread for it the process ends after libmongoc's own time limit.
            _ = DetachedThread.start {
                let pause = ThreadCondition(())
                while ContinuousClock.now < end { pause.pause(milliseconds: 50) }
                _exit(EXIT_SUCCESS)
            }
        }
    }
#endif
