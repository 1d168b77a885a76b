#if Server
    internal import NIOCore

    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import Glibc
    #endif

    /// Says on which address a server could not listen, and why.
    package struct ListenError: Error, CustomStringConvertible {
        /// The sentence.
        package let description: String

        init(_ address: String, _ error: any Error) {
            // NIO's own text begins with the name of its function.
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
            description = "cannot listen on \(address): \(reason ?? "\(error)")"
        }
    }
#endif
