internal import BSONStore

/// Slows down who tries passwords: after some wrong ones each further answer takes longer.
///
/// Counted for a user and an address together, so that nobody can lock out somebody else. Proofs
/// are judged one after the other, and after the free attempts only those whose conversation began
/// when the wait after the last wrong one was over: however many connections begin together, one of
/// them tries one password.
final class SignInDelay: Sendable {
    /// So many wrong proofs in a row cost nothing: people mistype.
    static let freeAttempts = 3
    /// The longest time that an attempt is made to wait.
    static let delayMax: Duration = .seconds(5)
    /// Wrong proofs are forgotten after so long.
    static let memory: Duration = .seconds(600)
    /// So many users and addresses are remembered at most.
    static let countMax = 10_000

    private struct Failures: Sendable {
        var count = 0
        var until: ContinuousClock.Instant
        var last: ContinuousClock.Instant
    }

    private let failures = Locked<[Name: Failures]>([:])
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// Counts by a clock.
    init(clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.clock = clock
    }

    /// The time by which attempts are counted.
    var now: ContinuousClock.Instant { clock() }

    /// What is counted together.
    static func key(user: String, database: String, peer: String) -> String {
        let host = peer.lastIndex(of: ":").map { peer[..<$0] } ?? peer[...]
        // Longer names that begin alike are delayed together; no user has such a name.
        let name = String(user.unicodeScalars.prefix(256))
        let place = String(database.unicodeScalars.prefix(64))
        return "\(network(host)) \(place).\(name)"
    }

    /// An address as those see it who give them out: one customer has 2^64 addresses of IPv6.
    static func network(_ host: Substring) -> String {
        let address = host.filter { $0 != "[" && $0 != "]" }.prefix { $0 != "%" }
        guard address.count(where: { $0 == ":" }) >= 2, !address.contains(".") else {
            return String(host)
        }
        var groups: [Substring] = []
        if let gap = address.ranges(of: "::").first {
            let head = address[..<gap.lowerBound].split(separator: ":")
            let tail = address[gap.upperBound...].split(separator: ":")
            let missing = max(0, 8 - head.count - tail.count)
            groups = head + Array(repeating: "0", count: missing) + tail
        } else {
            groups = address.split(separator: ":")
        }
        return groups.prefix(4).joined(separator: ":") + "::/64"
    }

    /// How long an attempt waits after so many wrong ones before it.
    static func delay(after count: Int) -> Duration {
        guard count > freeAttempts else { return .zero }
        let doublings = min(count - freeAttempts - 1, 16)
        return min(.milliseconds(100 << doublings), delayMax)
    }

    /// Judges one proof, and counts it when it is wrong.
    ///
    /// A proof that came too early is refused without a look at it, and is not counted.
    ///
    /// - Parameter began: when its conversation began.
    /// - Throws: what the proof throws, with the time when it may be told.
    func judge<R: Sendable>(
        _ key: String, began: ContinuousClock.Instant, _ proof: () throws -> R
    ) throws(DelayedFailure) -> R {
        let now = clock()
        let result: Result<R, DelayedFailure> = failures.withLock { failures in
            let known = Self.known(failures[key], now)
            if let known, known.count > Self.freeAttempts, began < known.until {
                return .failure(
                    DelayedFailure(fault: ScramConversation.failed, until: max(now, known.until)))
            }
            do {
                let value = try proof()
                failures[key] = nil
                return .success(value)
            } catch {
                let until = Self.note(&failures, key, now)
                return .failure(DelayedFailure(fault: CommandFailure(error), until: until))
            }
        }
        return try result.get()
    }

    /// Notes a wrong proof.
    ///
    /// - Returns: when it may be answered.
    func failed(_ key: String) -> ContinuousClock.Instant {
        let now = clock()
        return failures.withLock { Self.note(&$0, key, now) }
    }

    /// Notes a right proof.
    func succeeded(_ key: String) { failures.withLock { $0[key] = nil } }

    /// When the next attempt is looked at.
    func opening(_ key: String) -> ContinuousClock.Instant {
        let now = clock()
        return failures.withLock { Self.known($0[key], now)?.until ?? now }
    }

    private static func known(_ failures: Failures?, _ now: ContinuousClock.Instant) -> Failures? {
        failures.flatMap { $0.last + memory < now ? nil : $0 }
    }

    private static func note(
        _ failures: inout [Name: Failures], _ key: String, _ now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        if failures[key] == nil, failures.count >= countMax { forget(&failures, now) }
        var known = known(failures[key], now) ?? Failures(until: now, last: now)
        known.count += 1
        known.last = now
        known.until = now + delay(after: known.count)
        failures[key] = known
        return known.until
    }

    private static func forget(
        _ failures: inout [Name: Failures], _ now: ContinuousClock.Instant
    ) {
        failures = failures.filter { $0.value.last + memory >= now }
        guard failures.count >= countMax else { return }
        // Only an attack with many names or addresses comes here: half of them go, those with few
        // failures first, so that names made up for it do not push out the one that is tried.
        let kept = failures.sorted {
            ($0.value.count, $0.value.last) > ($1.value.count, $1.value.last)
        }.prefix(countMax / 2)
        failures = Dictionary(kept.map { ($0.key, $0.value) }) { first, _ in first }
    }
}
