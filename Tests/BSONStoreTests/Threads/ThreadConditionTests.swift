import Testing

@testable import BSONCore

/// Without these a thread that waits for another one would miss its signal, or wait for ever.
@Suite struct ThreadConditionTests {
    @Test(.timeLimit(.minutes(30)))
    func `a waiting thread sees each change that another thread makes`() {
        let turns = ThreadCondition((next: 0, seen: [Int]()))
        let isStarted = DetachedThread.start {
            for turn in 1...100 {
                turns.wait { (state: inout (next: Int, seen: [Int])) -> ThreadWait<Void> in
                    guard state.next == turn else { return .forSignal }
                    state.seen.append(turn)
                    turns.wake(.all)
                    return .done(())
                }
            }
        }
        #expect(isStarted)
        for turn in 1...100 {
            turns.withLock(waking: .all) { $0.next = turn }
            turns.wait { $0.seen.last == turn ? .done(()) : .forSignal }
        }
        #expect(turns.withLock { $0.seen } == Array(1...100))
    }

    @Test(.timeLimit(.minutes(30)))
    func `a wait with a time limit looks again although there was no signal`() {
        let looks = ThreadCondition(0)
        let count = looks.wait { (looks: inout Int) -> ThreadWait<Int> in
            looks += 1
            return looks == 3 ? .done(looks) : .forSignalOr(milliseconds: 1)
        }
        #expect(count == 3)
    }

    @Test func `a body that throws ends the wait and releases the lock`() {
        struct Refused: Error {}
        let value = ThreadCondition(1)
        #expect(throws: Refused.self) {
            try value.wait { (_: inout Int) -> ThreadWait<Void> in throw Refused() }
        }
        #expect(throws: Refused.self) {
            try value.withLock(waking: .one) { (value: inout Int) in
                value = 2
                throw Refused()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}
