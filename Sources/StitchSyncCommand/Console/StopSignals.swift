@preconcurrency import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The signals that ask a program to stop.
enum StopSignals {
    /// Returns a stream of received signals, which then no longer end the program.
    ///
    /// - Parameter hangsUp: whether the loss of the terminal (SIGHUP) still ends the program;
    ///   otherwise the stream reports it, too.
    static func stream(hangsUp: Bool = true) -> AsyncStream<Int32> {
        AsyncStream { continuation in
            let numbers = [SIGTERM, SIGINT] + (hangsUp ? [] : [SIGHUP])
            let sources = numbers.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { continuation.yield(number) }
                source.resume()
                return source
            }
            continuation.onTermination = { _ in for source in sources { source.cancel() } }
        }
    }

    /// Whether a signal asks to reload the configuration.
    static func isHangUp(_ signal: Int32) -> Bool { signal == SIGHUP }
}
