internal import BSONStore

/// Slows down who tries passwords: after some wrong ones each further answer takes longer.
///
/// Counted for a user and an address together, so that nobody can lock out somebody else.
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
        var until = ContinuousClock.now
        var last = ContinuousClock.now
    }

    private let failures = Locked<[Name: Failures]>([:])

    /// What is counted together.
    static func key(user: String, database: String, peer: String) -> String {
        let host = peer.lastIndex(of: ":").map { peer[..<$0] } ?? peer[...]
        // Longer names that begin alike are delayed together; no user has such a name.
        let name = String(user.unicodeScalars.prefix(256))
        return "\(host) \(database).\(name)"
    }

    /// How long an attempt waits after so many wrong ones before it.
    static func delay(after count: Int) -> Duration {
        guard count > freeAttempts else { return .zero }
        let doublings = min(count - freeAttempts - 1, 16)
        return min(.milliseconds(100 << doublings), delayMax)
    }

    /// Notes a wrong proof.
    ///
    /// - Returns: when it may be answered.
    func failed(_ key: String) -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        return failures.withLock { failures in
            if failures[key] == nil, failures.count >= Self.countMax { Self.forget(&failures, now) }
            var known = failures[key] ?? Failures()
            if known.last + Self.memory < now { known = Failures() }
            known.count += 1
            known.last = now
            known.until = now + Self.delay(after: known.count)
            failures[key] = known
            return known.until
        }
    }

    /// Notes a right proof.
    func succeeded(_ key: String) { failures.withLock { $0[key] = nil } }

    /// When the next attempt is looked at.
    func opening(_ key: String) -> ContinuousClock.Instant {
        failures.withLock { $0[key]?.until ?? .now }
    }

    private static func forget(
        _ failures: inout [Name: Failures], _ now: ContinuousClock.Instant
    ) {
        failures = failures.filter { $0.value.last + memory >= now }
        guard failures.count >= countMax else { return }
        // Only an attack from many addresses comes here: the older half goes.
        let times = failures.values.map(\.last).sorted()
        let middle = times[times.count / 2]
        failures = failures.filter { $0.value.last > middle }
    }
}
