#if canImport(Darwin)
    package import Darwin
#else
    package import Glibc
#endif

/// Sockets of this machine only, as the system has them.
package enum Loopback {
    /// Makes a socket that sends what it is given at once.
    package static func socket() throws -> Int32 {
        #if canImport(Darwin)
            let made = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #else
            let made = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard made >= 0 else { throw ProgramFailure(reason: "no socket: \(errno)") }
        var one: Int32 = 1
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return made
    }

    /// A port on which no process listens now, for a server that must have the same one later.
    package static func freePort() throws -> Int {
        let free = try socket()
        defer { close(free) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(free, address, length) == 0 && getsockname(free, address, &length) == 0
            }
        }
        guard isBound else { throw ProgramFailure(reason: "no free port: \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The address of a port.
    package static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Connects to a port; `nil` where no process listens.
    package static func connect(to port: UInt16) -> Int32? {
        var address = address(port)
        do {
            let server = try socket()
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    #if canImport(Darwin)
                        Darwin.connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size))
                    #else
                        Glibc.connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size))
                    #endif
                }
            }
            guard result == 0 else {
                close(server)
                return nil
            }
            return server
        } catch {
            return nil
        }
    }

    /// Sends bytes.
    ///
    /// - Parameter waits: whether to wait until the other side takes them.
    /// - Returns: how many bytes were sent.
    package static func send(
        _ bytes: some RandomAccessCollection<UInt8>, to target: Int32, waits: Bool = true
    ) -> Int {
        let bytes = ContiguousArray(bytes)
        var sent = 0
        while sent < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                send(
                    target, buffer.baseAddress?.advanced(by: sent), buffer.count - sent,
                    waits ? noSignal : noSignal | noWait)
            }
            guard written > 0 else { break }
            sent += written
        }
        return sent
    }

    /// Ends the sending half of a socket.
    package static func finishSending(_ number: Int32) {
        #if canImport(Darwin)
            _ = Darwin.shutdown(number, SHUT_WR)
        #else
            _ = Glibc.shutdown(number, Int32(SHUT_WR))
        #endif
    }

    /// Ends a socket.
    package static func close(_ number: Int32) {
        #if canImport(Darwin)
            _ = Darwin.close(number)
        #else
            _ = Glibc.close(number)
        #endif
    }

    private static func send(
        _ target: Int32, _ start: UnsafeRawPointer?, _ count: Int, _ flags: Int32
    ) -> Int {
        #if canImport(Darwin)
            Darwin.send(target, start, count, flags)
        #else
            Glibc.send(target, start, count, flags)
        #endif
    }

    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
        private static let noWait = MSG_DONTWAIT
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
        private static let noWait = Int32(MSG_DONTWAIT)
    #endif
}
