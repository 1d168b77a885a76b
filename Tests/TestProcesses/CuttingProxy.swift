import BSONStore
import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Passes bytes between a client and a server on loopback, and cuts connections when told to.
package final class CuttingProxy: Sendable {
    /// What is lost.
    package enum Loss: Sendable {
        /// The request, before the server sees it.
        case request
        /// The answer, after the server carried the request out.
        case answer
        /// The answer, behind so many of its bytes.
        case answerAfter(Int)
        /// Nothing: the request comes twice, and only one of the answers is passed on.
        case repeated
    }

    private struct Plan {
        let word: [UInt8]
        let loss: Loss
        var times: Int
    }

    private let listener: Int32
    private let target: Locked<UInt16>
    private let bytesLeft = Locked<Int?>(nil)
    private let delayMS = Locked<Int32>(0)
    private let pairs = Locked(0)
    private let ended = Signal()
    private let plan = Locked<Plan?>(nil)
    private let losses = Locked(0)
    private let isClosed = Locked(false)
    /// The port that clients connect to.
    package let port: Int

    /// How many connections were cut.
    package var lossCount: Int { losses.withLock { $0 } }

    /// Starts to listen on a free port in front of another one.
    package init(to target: Int) throws {
        self.target = Locked(UInt16(target))
        let listener = try Loopback.socket()
        var address = Loopback.address(0)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(listener, 64) == 0 else {
            throw ProgramFailure(reason: "no port for a proxy: \(errno)")
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(listener, $0, &length)
            }
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        _ = DetachedThread.start { self.accept() }
    }

    /// Loses something of the next requests that contain a word, for example `updates`.
    package func lose(_ loss: Loss, of word: String, times: Int = 1) {
        plan.withLock { $0 = Plan(word: Array(word.utf8), loss: loss, times: times) }
    }

    /// Cuts all connections behind so many bytes of either direction, in the middle of a message.
    package func cut(afterBytes count: Int) { bytesLeft.withLock { $0 = count } }

    /// Keeps each piece of an answer back for a while, 0 for none.
    package func delayAnswers(milliseconds: Int32) { delayMS.withLock { $0 = milliseconds } }

    /// Sends what comes from now on to another port.
    package func redirect(to port: Int) { target.withLock { $0 = UInt16(port) } }

    /// Returns when no connection is open any more.
    package func waitUntilIdle() async {
        while true {
            let seen = ended.count
            if pairs.withLock({ $0 }) == 0 { return }
            await ended.wait(after: seen)
        }
    }

    /// Takes no more connections.
    package func close() {
        isClosed.withLock { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
        Loopback.close(listener)
    }

    private func accept() {
        while !isClosed.withLock({ $0 }) {
            #if canImport(Darwin)
                let client = Darwin.accept(listener, nil, nil)
            #else
                let client = Glibc.accept(listener, nil, nil)
            #endif
            guard client >= 0 else { return }
            guard let server = connect() else {
                Loopback.close(client)
                continue
            }
            pairs.withLock { $0 += 1 }
            let pair = Pair(client: client, server: server) {
                self.pairs.withLock { $0 -= 1 }
                self.ended.notify()
            }
            _ = DetachedThread.start { self.passRequests(pair) }
            _ = DetachedThread.start { self.passAnswers(pair) }
        }
    }

    private func passRequests(_ pair: Pair) {
        Self.pass(from: pair.client, to: pair.server) { bytes in
            guard let loss = self.take(bytes) else { return self.allowed(bytes.count) }
            self.losses.withLock { $0 += 1 }
            switch loss {
            case .repeated: self.sendApart(bytes)
            case .request: return nil
            case .answer: pair.answerBytes.withLock { $0 = 0 }
            case .answerAfter(let count): pair.answerBytes.withLock { $0 = count }
            }
            return bytes.count
        }
        pair.end()
    }

    private func passAnswers(_ pair: Pair) {
        Self.pass(from: pair.server, to: pair.client) { bytes in
            self.holdBack()
            let count = pair.answerBytes.withLock { rest -> Int? in
                guard let left = rest else { return bytes.count }
                rest = left - bytes.count
                return left <= 0 ? nil : min(left, bytes.count)
            }
            return count.flatMap { self.allowed($0) }
        }
        pair.end()
    }

    /// Waits as long as answers are to be kept back, or until the end.
    private func holdBack() {
        var left = delayMS.withLock { $0 }
        while left > 0, !isClosed.withLock({ $0 }) {
            poll(nil, 0, min(left, 20))
            left -= 20
        }
    }

    /// How many of some bytes may still pass before the cut.
    private func allowed(_ count: Int) -> Int? {
        let left = bytesLeft.withLock { left -> Int? in
            guard let now = left else { return nil }
            left = now > count ? now - count : nil
            return now
        }
        guard let left, left <= count else { return count }
        losses.withLock { $0 += 1 }
        return left == 0 ? nil : min(left, count - 1)
    }

    /// Sends a request by a connection of its own, and reads the answer for nobody.
    private func sendApart(_ request: ArraySlice<UInt8>) {
        guard let server = connect() else { return }
        defer { Loopback.close(server) }
        guard Self.send(request, to: server) else { return }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        _ = read(server, &buffer, buffer.count)
    }

    private func take(_ bytes: ArraySlice<UInt8>) -> Loss? {
        plan.withLock { plan in
            guard let found = plan, found.times > 0, bytes.contains(found.word) else { return nil }
            plan?.times -= 1
            return found.loss
        }
    }
}

extension CuttingProxy {
    /// Two ends of one connection.
    private final class Pair: Sendable {
        let client: Int32
        let server: Int32
        /// How many bytes of the next answer the client may still get.
        let answerBytes = Locked<Int?>(nil)
        private let ends = Locked(0)
        private let onEnd: @Sendable () -> Void

        init(client: Int32, server: Int32, onEnd: @escaping @Sendable () -> Void) {
            self.client = client
            self.server = server
            self.onEnd = onEnd
        }

        /// One direction is over, and with it the other.
        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
            let isLast = ends.withLock { ends in
                ends += 1
                return ends == 2
            }
            if isLast {
                Loopback.close(client)
                Loopback.close(server)
                onEnd()
            }
        }
    }

    /// Copies until the end; `allowed` says how much of each piece goes on, `nil` for the end.
    private static func pass(
        from source: Int32, to target: Int32, allowed: (ArraySlice<UInt8>) -> Int?
    ) {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0, let part = allowed(buffer[..<count]) else { return }
            guard send(buffer[..<part], to: target), part == count else { return }
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        Loopback.send(bytes, to: target) == bytes.count
    }

    private func connect() -> Int32? { Loopback.connect(to: target.withLock { $0 }) }
}
