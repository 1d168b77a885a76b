#if CommandLine
    import BSONStore
    @preconcurrency import Dispatch

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// The signals of Ctrl-C, each of which ends an evaluation and not the program.
    final class InterruptSignals {
        private let current: Locked<WorkBudget?>
        private let source: any DispatchSourceSignal

        /// Receives the signals from now on.
        init() {
            let current = Locked<WorkBudget?>(nil)
            self.current = current
            signal(SIGINT, SIG_IGN)
            source = DispatchSource.makeSignalSource(signal: SIGINT)
            source.setEventHandler { current.withLock { $0 }?.stop(.interrupted) }
            source.resume()
        }

        deinit {
            source.cancel()
            signal(SIGINT, SIG_DFL)
        }

        /// Runs a body that a signal ends.
        func stopping<R>(_ body: () throws -> R) throws -> R {
            let budget = WorkBudget()
            current.withLock { $0 = budget }
            defer { current.withLock { $0 = nil } }
            return try budget.running { try body() }
        }
    }
#endif
