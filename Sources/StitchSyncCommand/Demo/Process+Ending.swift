import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Process {
    /// Sends the process a signal and waits for its exit.
    func end(by signal: Int32) {
        kill(processIdentifier, signal)
        waitUntilExit()
    }
}
