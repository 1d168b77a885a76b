import BSONStore
import Testing

@testable import StitchServer

/// However many connections a guesser opens, the guesses come one after the other, and slowly.
@Suite struct SignInDelayTests {
    private struct Wrong: Error {}

    /// A clock that stands still until it is moved.
    private struct Clock {
        let time = Locked(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }

        func move(by duration: Duration) { time.withLock { $0 += duration } }

        var delays: SignInDelay { SignInDelay { [time] in time.withLock { $0 } } }
    }

    /// Sends a wrong proof, and says whether it was looked at.
    private func guess(_ delays: SignInDelay, began: ContinuousClock.Instant) -> Bool {
        var isJudged = false
        do throws(DelayedFailure) {
            try delays.judge("a", began: began) {
                isJudged = true
                throw Wrong()
            }
            Issue.record("a wrong proof is let in")
        } catch {
            #expect(error.until >= began)
        }
        return isJudged
    }

    @Test("Many conversations that begin before the first failure have the free attempts only")
    func burst() {
        let clock = Clock()
        let delays = clock.delays
        let began = clock.now
        let judged = (0..<1_000).count { _ in
            clock.move(by: .milliseconds(1))
            return guess(delays, began: began)
        }
        #expect(judged == SignInDelay.freeAttempts + 1)
    }

    @Test("Of many conversations that begin when the wait is over, one has its proof looked at")
    func herd() {
        let clock = Clock()
        let delays = clock.delays
        for _ in 0...SignInDelay.freeAttempts { _ = guess(delays, began: clock.now) }
        var judged = 0
        for _ in 0..<5 {
            let opening = delays.opening("a")
            #expect(opening > clock.now)
            clock.move(by: opening - clock.now)
            let began = (0..<100).map { _ in clock.now }
            clock.move(by: .milliseconds(1))
            judged += began.count { guess(delays, began: $0) }
        }
        #expect(judged == 5)
    }

    @Test("The right proof is let in after the wait, and failures before it are forgotten")
    func right() throws {
        let clock = Clock()
        let delays = clock.delays
        let early = clock.now
        for _ in 0..<10 { _ = guess(delays, began: max(clock.now, delays.opening("a"))) }
        #expect(throws: DelayedFailure.self) { try delays.judge("a", began: early) { 1 } }
        clock.move(by: delays.opening("a") - clock.now)
        #expect(try delays.judge("a", began: clock.now) { 1 } == 1)
        #expect(try delays.judge("a", began: early) { 2 } == 2)
    }

    @Test("Failures are forgotten after their time, and made-up names push out no real one")
    func memory() {
        let clock = Clock()
        let delays = clock.delays
        for _ in 0..<6 { _ = delays.failed("a") }
        for number in 0..<(SignInDelay.countMax * 2) { _ = delays.failed("b\(number)") }
        #expect(delays.opening("a") > clock.now)
        clock.move(by: SignInDelay.memory + .seconds(10))
        #expect(delays.opening("a") == clock.now)
    }

    @Test(
        "The addresses of one network of IPv6 are one",
        arguments: [
            ("192.0.2.1:9", "192.0.2.1 app.ann"),
            ("[2001:db8:0:1:aaaa::7]:9", "2001:db8:0:1::/64 app.ann"),
            ("2001:db8:0:1:2:3:4:5:9", "2001:db8:0:1::/64 app.ann"),
            ("[2001:db8::7]:9", "2001:db8:0:0::/64 app.ann"),
            ("[::ffff:192.0.2.1]:9", "[::ffff:192.0.2.1] app.ann"),
        ])
    func networks(peer: String, key: String) {
        #expect(SignInDelay.key(user: "ann", database: "app", peer: peer) == key)
    }
}
