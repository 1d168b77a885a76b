package import BSONStore
internal import Foundation
internal import StitchWire

/// A connection to a server on this machine that sends commands as drivers do, or any bytes.
///
/// It blocks, and belongs to one thread.
package final class WireClient {
    /// What a server did with a command.
    package enum Answer {
        case reply(BSONDocument)
        /// It closed the connection.
        case closed
        /// It did nothing in time.
        case silent
    }

    private let socket: Int32
    private var received: [UInt8] = []
    private let parser = WireParser()
    /// The number of the request that the last answer answers.
    package private(set) var lastResponseTo: Int32 = 0

    /// Connects; `nil` where no process listens.
    package init?(port: Int) {
        guard let socket = Loopback.connect(to: UInt16(port)) else { return nil }
        self.socket = socket
    }

    deinit { Loopback.close(socket) }

    /// The bytes of a command.
    package static func message(_ command: BSONDocument, requestID: Int32 = 1) -> [UInt8] {
        WireEncoder.bytes(command, to: .message([]), requestID: requestID, responseTo: 0)
    }

    /// Sends a command and waits for its answer.
    package func run(_ command: BSONDocument, within limit: Duration) -> Answer {
        guard send(Self.message(command)) else { return .closed }
        return answer(within: limit)
    }

    /// Sends bytes; `false` when the server takes no more.
    ///
    /// - Parameter waits: whether to wait until the server takes them.
    @discardableResult
    package func send(_ bytes: [UInt8], waits: Bool = true) -> Bool {
        Loopback.send(bytes, to: socket, waits: waits) == bytes.count
    }

    /// Tells the peer that no more bytes follow.
    package func finishSending() { Loopback.finishSending(socket) }

    /// Waits for the next answer; without a limit it takes what has arrived.
    package func answer(within limit: Duration) -> Answer {
        let end = ContinuousClock.now + limit
        while true {
            do {
                if let reply = try nextReply() { return .reply(reply) }
            } catch {
                return .closed
            }
            let left = ContinuousClock.now.duration(to: end)
            let milliseconds = left > .zero ? left.components.seconds * 1_000 + 1 : 0
            var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(milliseconds)) > 0 else {
                guard left > .zero else { return .silent }
                continue
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { return .closed }
            received += buffer[..<count]
        }
    }

    /// Waits for any bytes, whatever they are.
    package func received(within limit: Duration) -> [UInt8] {
        var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, Int32(limit.components.seconds * 1_000)) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(socket, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    private func nextReply() throws -> BSONDocument? {
        let length = try received.withUnsafeBytes { try parser.messageLength($0) }
        guard let length, received.count >= length else { return nil }
        let request = try received.withUnsafeBytes { bytes in
            try parser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        }
        lastResponseTo = received.withUnsafeBytes {
            Int32(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: Int32.self))
        }
        received.removeFirst(length)
        return request.body
    }
}
