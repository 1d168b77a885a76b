#if Remote
    internal import BSONStore

    /// Whether the primary can be reached, for any number of listeners.
    ///
    /// While it cannot, the listeners' own tasks look for it, with growing pauses.
    final class Reachability: Sendable {
        private struct State {
            var isReachable: Bool?
            var changes = 0
            var isClosed = false
        }

        private let state = Locked(State())
        private let changed = Signal()
        private let pauseMin: Duration
        private static let pauseMax: Duration = .seconds(30)

        init(pauseMin: Duration = .milliseconds(500)) { self.pauseMin = pauseMin }

        func note(_ isReachable: Bool) {
            state.withLock { state in
                guard state.isReachable != isReachable else { return }
                state.isReachable = isReachable
                state.changes += 1
            }
            changed.notify()
        }

        func close() {
            state.withLock { $0.isClosed = true }
            changed.notify()
        }

        /// Returns a stream of the state now and each change.
        ///
        /// - Parameter probe: looks for the primary, and notes the result here.
        func stream(probing probe: @escaping @Sendable () async -> Void) -> AsyncStream<Bool> {
            let last = Locked<Bool?>(nil)
            return AsyncStream { [self] in
                let next = await next(after: last.withLock { $0 }, probe)
                last.withLock { $0 = next }
                return next
            }
        }

        /// The next state that differs from one; `nil` at the end.
        private func next(after last: Bool?, _ probe: @Sendable () async -> Void) async -> Bool? {
            var pause = pauseMin
            while !Task.isCancelled {
                let seen = changed.count
                let now = state.withLock { $0 }
                if now.isClosed { return nil }
                if let isReachable = now.isReachable, isReachable != last { return isReachable }
                if now.isReachable == false {
                    await wait(after: seen, atMost: pause)
                    if !Task.isCancelled, changed.count == seen { await probe() }
                    pause = min(pause * 2, Self.pauseMax)
                } else {
                    await changed.wait(after: seen)
                }
            }
            return nil
        }

        private func wait(after seen: Int, atMost limit: Duration) async {
            await withTaskGroup { group in
                group.addTask { await SocketBootstrap.pause(limit) }
                group.addTask { await self.changed.wait(after: seen) }
                await group.next()
                group.cancelAll()
            }
        }
    }
#endif
