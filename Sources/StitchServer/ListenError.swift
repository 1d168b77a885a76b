#if Server
    internal import BSONStore
    internal import NIOCore

    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import Glibc
    #endif

    /// The reason why a server cannot listen on an address.
    package struct ListenError: Error, CustomStringConvertible {
        /// The address and the cause, as one sentence.
        package let description: String

        init(_ address: String, _ error: any Error) {
            // NIO's own text begins with the name of its function.
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
            description = "cannot listen on \(address): \(reason ?? "\(error)")"
        }
    }
#endif
