import BSONStore
import Testing

@testable import StitchServer

/// Without these the server would keep what large commands freed, or return memory all the time.
@Suite struct FreeMemoryTests {
    /// What was scheduled, and how often memory was given back.
    private struct Log: Sendable {
        var scheduled: [@Sendable () -> Void] = []
        var returns = 0
    }

    private let log = Locked(Log())
    private let memory: FreeMemory

    init() {
        let log = log
        memory = FreeMemory { body in
            log.withLock { $0.scheduled.append(body) }
        } giveBack: {
            log.withLock { $0.returns += 1 }
        }
    }

    private func pass() {
        let due = log.withLock { log in
            defer { log.scheduled = [] }
            return log.scheduled
        }
        for body in due { body() }
    }

    private func step(_ time: Duration) {
        memory.begin()
        memory.end(after: time)
    }

    private var returns: Int { log.withLock { $0.returns } }
    private var waiting: Int { log.withLock { $0.scheduled.count } }

    @Test func `short steps give nothing back`() {
        for _ in 0..<1_000 { step(.milliseconds(1)) }
        pass()
        #expect(returns == 0)
    }

    @Test func `memory is given back once after long steps`() {
        for _ in 0..<3 { step(.seconds(1)) }
        #expect(returns == 0 && waiting == 1)
        pass()
        #expect(returns == 1 && waiting == 0)
        step(.milliseconds(1))
        pass()
        #expect(returns == 1)
    }

    @Test func `a running step postpones it until its end`() {
        memory.begin()
        step(.seconds(1))
        #expect(waiting == 0)
        memory.end(after: .zero)
        #expect(waiting == 1)
        memory.begin()
        pass()
        #expect(returns == 0)
        memory.end(after: .zero)
        pass()
        #expect(returns == 1)
    }

    @Test func `a step's own result is returned`() {
        #expect(memory.running { 7 } == 7)
    }
}
