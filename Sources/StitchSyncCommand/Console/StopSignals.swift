@preconcurrency import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Tells of the signals by which the system asks a program to end.
enum StopSignals {
    /// One element for each signal; the program does not end by itself then.
    ///
    /// - Parameter hangsUp: whether the program ends by itself when its terminal goes away (SIGHUP);
    ///   otherwise that is told, too.
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

    /// Whether a signal only asks to read what is configured again.
    static func isHangUp(_ signal: Int32) -> Bool { signal == SIGHUP }
}
