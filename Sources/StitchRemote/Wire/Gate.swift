#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// A limit on what is under way: a number of requests and the sum of their bytes.
    ///
    /// Requests enter in the order in which they ask.
    final class Gate: Sendable {
        private struct Waiter {
            let id: Int
            let bytes: Int
            let answer: FirstAnswer<MongoFailure?>
        }

        private struct State {
            var inside = 0
            var bytesInside = 0
            var next = 0
            var waiting: [Waiter] = []
            var isClosed = false
        }

        private let countMax: Int
        private let bytesMax: Int
        private let state = Locked(State())

        init(countMax: Int, bytesMax: Int = .max) {
            self.countMax = max(1, countMax)
            self.bytesMax = bytesMax
        }

        /// The number of requests that wait for their turn.
        var waitingCount: Int { state.withLock { $0.waiting.count } }

        /// Runs a body when its turn comes; a body larger than the limit runs alone.
        ///
        /// - Throws: ``MongoFailure`` of the body, of a cancelled wait, or after ``close()``.
        func pass<R>(
            bytes: Int = 0, _ body: () async throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            try await enter(bytes)
            defer { leave(bytes) }
            return try await body()
        }

        /// Lets no request enter any more.
        func close() {
            let waiting = state.withLock { state in
                state.isClosed = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.answer.give(.closed) }
        }

        private func enter(_ bytes: Int) async throws(MongoFailure) {
            let answer = FirstAnswer<MongoFailure?>()
            let id = try state.withLock { (state) throws(MongoFailure) -> Int in
                guard !state.isClosed else { throw .closed }
                state.next += 1
                if state.waiting.isEmpty, admits(bytes, state) {
                    state.inside += 1
                    state.bytesInside += bytes
                    answer.give(nil)
                } else {
                    state.waiting.append(Waiter(id: state.next, bytes: bytes, answer: answer))
                }
                return state.next
            }
            let failure = await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                let isOut = state.withLock { state in
                    guard let place = state.waiting.firstIndex(where: { $0.id == id }) else {
                        return false
                    }
                    state.waiting.remove(at: place)
                    return true
                }
                if isOut {
                    answer.give(.cancelled)
                    admitWaiting()
                }
            }
            if let failure { throw failure }
        }

        private func leave(_ bytes: Int) {
            state.withLock { state in
                state.inside -= 1
                state.bytesInside -= bytes
            }
            admitWaiting()
        }

        private func admits(_ bytes: Int, _ state: State) -> Bool {
            state.inside < countMax
                && (state.inside == 0 || state.bytesInside + bytes <= bytesMax)
        }

        private func admitWaiting() {
            let admitted = state.withLock { state -> [Waiter] in
                var admitted: [Waiter] = []
                while let first = state.waiting.first, admits(first.bytes, state) {
                    state.inside += 1
                    state.bytesInside += first.bytes
                    admitted.append(state.waiting.removeFirst())
                }
                return admitted
            }
            for waiter in admitted { waiter.answer.give(nil) }
        }
    }
#endif
