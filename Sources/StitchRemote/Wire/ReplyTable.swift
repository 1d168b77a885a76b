#if Remote
    internal import BSONStore
    internal import NIOCore
    internal import StitchCommands
    internal import StitchWire

    /// The requests of one connection that wait for their replies, by their numbers.
    final class ReplyTable: Sendable {
        typealias Answer = FirstAnswer<Result<ByteBuffer, MongoFailure>>

        private enum Waiter {
            case waiting(Answer)
            /// The caller was cancelled; the reply is dropped when it arrives.
            case abandoned
        }

        private struct State {
            var next: Int32 = 0
            var waiters: [Int32: Waiter] = [:]
            /// The number of replies so far, which shows that the server is alive.
            var replies = 0
            /// Whether the server has proved who it is.
            var isTrusted = false
            /// The compression of requests that the server agreed to.
            var compressor: WireCompressor?
            /// Whether no new requests are accepted.
            var isRetired = false
            var end: MongoFailure?
        }

        private let state = Locked(State())
        private let traffic: TrafficMeter

        init(counting traffic: TrafficMeter) { self.traffic = traffic }

        /// The largest number of abandoned requests without a reply; then the connection ends.
        static let abandonedMax = 1_000
        /// The largest size of a reply before the sign-in, in bytes.
        private static let untrustedBytesMax = 1 << 20
        /// The largest size of a reply in bytes.
        static let bytesMax = 48_000_000

        /// The limits of replies, which contain documents inside others.
        var limits: WireLimits {
            let bytesMax =
                state.withLock { $0.isTrusted } ? Self.bytesMax : Self.untrustedBytesMax
            return WireLimits(
                messageBytesMax: bytesMax, documentBytesMax: bytesMax,
                depthMax: BSONLimits().depthMax + 8)
        }

        /// Allows large replies from now on, and compressed ones if requests are compressed.
        func trust(_ compressor: WireCompressor?) {
            state.withLock { state in
                state.isTrusted = true
                state.compressor = compressor
            }
        }

        /// The compression of requests and replies; `nil` for none, as before the sign-in.
        var compressor: WireCompressor? { state.withLock { $0.compressor } }

        /// Whether requests are accepted.
        var isOpen: Bool { state.withLock { $0.end == nil && !$0.isRetired } }

        /// The number of replies so far.
        var replyCount: Int { state.withLock { $0.replies } }

        /// Registers a request and returns its number.
        ///
        /// - Throws: ``MongoFailure`` when the connection has ended.
        func begin(_ answer: Answer) throws(MongoFailure) -> Int32 {
            try state.withLock { (state) throws(MongoFailure) in
                if let end = state.end { throw end }
                // Numbers of requests that still wait are left out when they start again.
                repeat {
                    state.next = state.next == .max ? 1 : state.next + 1
                } while state.waiters[state.next] != nil
                state.waiters[state.next] = .waiting(answer)
                return state.next
            }
        }

        /// Passes a reply to its request; returns whether the connection can continue.
        func deliver(_ message: ByteBuffer) -> Bool {
            let header = message.withUnsafeReadableBytes { WireHeader($0) }
            traffic.noteReceived(message, limits)
            guard let header, isExpected(header) else {
                end(.broken("the server sent a message of another kind than asked for"))
                return false
            }
            let (waiter, goesOn) = state.withLock { state -> (Waiter?, Bool) in
                state.replies += 1
                let waiter = state.waiters.removeValue(forKey: header.responseTo)
                return (waiter, !(state.isRetired && state.waiters.isEmpty))
            }
            switch waiter {
            case .waiting(let answer): answer.give(.success(message))
            case .abandoned: break
            case nil:
                end(.broken("the server replied to a request that does not wait"))
                return false
            }
            return goesOn
        }

        /// Whether a reply is of a kind that was asked for.
        private func isExpected(_ header: WireHeader) -> Bool {
            switch WireOpcode(rawValue: header.opcode) {
            case .message: true
            // A server may compress only the replies to compressed requests.
            case .compressed: compressor != nil
            case .query, .reply, nil: false
            }
        }

        /// Ends a request whose caller no longer waits; returns whether the connection can
        /// continue.
        func abandon(_ id: Int32, _ failure: MongoFailure) -> Bool {
            let (waiter, goesOn) = state.withLock { state -> (Waiter?, Bool) in
                guard case .waiting = state.waiters[id] else { return (nil, true) }
                let waiter = state.waiters.updateValue(.abandoned, forKey: id)
                let count = state.waiters.values.count { waiter in
                    if case .abandoned = waiter { true } else { false }
                }
                return (waiter, count <= Self.abandonedMax)
            }
            if case .waiting(let answer) = waiter { answer.give(.failure(failure)) }
            return goesOn
        }

        /// Accepts no new requests; returns whether none waits for its reply.
        func retire() -> Bool {
            state.withLock { state in
                state.isRetired = true
                return state.waiters.isEmpty
            }
        }

        /// Ends all requests; only the first end counts.
        ///
        /// Requests that wait were not answered, whatever another reply broke: they fail as after a lost
        /// connection, so they may be repeated over another one.
        func end(_ failure: MongoFailure) {
            let lost =
                failure.kind == .protocolError ? MongoFailure.network(failure.message) : failure
            let waiters = state.withLock { state in
                if state.end == nil { state.end = failure }
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters {
                if case .waiting(let answer) = waiter { answer.give(.failure(lost)) }
            }
        }
    }
#endif
