#if MongoRemote
    internal import BSONStore

    /// A broadcast of whether a primary is reachable to any number of streams.
    final class MongoReachability: Sendable {
        private struct State {
            var isReachable: Bool?
            var streams: [Int: AsyncStream<Bool>.Continuation] = [:]
            var next = 0
        }

        private let state = Locked(State())

        func note(_ isReachable: Bool) {
            let streams = state.withLock { state -> [AsyncStream<Bool>.Continuation] in
                guard state.isReachable != isReachable else { return [] }
                state.isReachable = isReachable
                return Array(state.streams.values)
            }
            for stream in streams { stream.yield(isReachable) }
        }

        func stream() -> AsyncStream<Bool> {
            let (stream, continuation) = AsyncStream<Bool>.makeStream(
                bufferingPolicy: .bufferingNewest(1))
            let number = state.withLock { state in
                state.next += 1
                state.streams[state.next] = continuation
                if let known = state.isReachable { continuation.yield(known) }
                return state.next
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.streams[number] = nil }
            }
            return stream
        }

        func close() {
            let streams = state.withLock { Array($0.streams.values) }
            for stream in streams { stream.finish() }
        }
    }
#endif
