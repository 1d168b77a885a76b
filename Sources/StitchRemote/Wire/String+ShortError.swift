#if Remote
    internal import NIOCore
    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif
    #if !canImport(Network)
        internal import NIOPosix
    #endif

    extension String {
        /// A description of an error on one line of at most 300 characters.
        init(shortly error: any Error) {
            let text = Self.reason(error).split(whereSeparator: \.isNewline)
            self = String(text.joined(separator: " ").prefix(300))
        }

        /// Returns the cause of an error of SwiftNIO, which describes itself by its types, and the
        /// description of any other.
        private static func reason(_ error: any Error) -> String {
            if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
            if case ChannelError.connectTimeout(let limit)? = error as? ChannelError {
                return "no answer within \(limit.nanoseconds / 1_000_000) ms"
            }
            #if !canImport(Network)
                if let error = error as? NIOConnectionError {
                    let names =
                        error.connectionErrors.isEmpty
                        ? [error.dnsAError, error.dnsAAAAError].compactMap { $0 } : []
                    var reasons: [String] = []
                    for cause in names + error.connectionErrors.map(\.error) {
                        let reason = reason(cause)
                        if !reasons.contains(reason) { reasons.append(reason) }
                    }
                    return reasons.joined(separator: "; ")
                }
            #endif
            return "\(error)"
        }
    }
#endif
