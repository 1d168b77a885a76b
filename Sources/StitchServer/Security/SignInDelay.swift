internal import BSONStore

/// The delay against guessing passwords: after some wrong ones each further reply takes longer.
///
/// Attempts are counted for a user and an address together, so an attacker cannot lock a user out.
/// Proofs are judged one after the other. After the free attempts, a proof is checked only if its
/// exchange began after the last delay was over, so parallel connections allow no more guesses.
final class SignInDelay: Sendable {
    /// The number of wrong proofs in a row without a delay, for mistyped passwords.
    static let freeAttempts = 3
    /// The longest delay of an attempt.
    static let delayMax: Duration = .seconds(5)
    /// The time after which wrong proofs are forgotten.
    static let memory: Duration = .seconds(600)
    /// The maximum number of remembered pairs of user and address.
    static let countMax = 10_000

    private struct Failures: Sendable {
        var count = 0
        var until: ContinuousClock.Instant
        var last: ContinuousClock.Instant
    }

    private let failures = Locked<[Name: Failures]>([:])
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// Creates an empty record that uses a clock.
    init(clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.clock = clock
    }

    /// The current time of the record's clock.
    var now: ContinuousClock.Instant { clock() }

    /// Returns the key under which attempts are counted.
    static func key(user: String, database: String, peer: String) -> String {
        // Longer names with the same beginning share a delay; no user has such a name.
        let name = String(user.unicodeScalars.prefix(256))
        let place = String(database.unicodeScalars.prefix(64))
        return "\(network(ofPeer: peer)) \(place).\(name)"
    }

    /// Returns the network of an address with a port.
    static func network(ofPeer peer: String) -> String {
        network(peer.lastIndex(of: ":").map { peer[..<$0] } ?? peer[...])
    }

    /// Returns the network of an address: an IPv6 customer owns 2^64 addresses, so they count as
    /// one.
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

    /// Returns the delay after a number of wrong attempts.
    static func delay(after count: Int) -> Duration {
        guard count > freeAttempts else { return .zero }
        let doublings = min(count - freeAttempts - 1, 16)
        return min(.milliseconds(100 << doublings), delayMax)
    }

    /// Checks one proof, and counts it when it is wrong.
    ///
    /// A proof that arrives too early is refused unchecked, and is not counted.
    ///
    /// - Parameter began: the start of the exchange.
    /// - Throws: the proof's error, with the time at which to report it.
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

    /// Counts a wrong proof.
    ///
    /// - Returns: the time at which to reply.
    func failed(_ key: String) -> ContinuousClock.Instant {
        let now = clock()
        return failures.withLock { Self.note(&$0, key, now) }
    }

    /// Forgets the wrong proofs after a right one.
    func succeeded(_ key: String) { failures.withLock { $0[key] = nil } }

    /// Returns the time from which the next attempt is checked.
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
        // Only an attack with many names or addresses fills the record. Half of the entries are
        // dropped, those with few failures first, so that made-up names do not displace the
        // attacked one.
        let kept = failures.sorted {
            ($0.value.count, $0.value.last) > ($1.value.count, $1.value.last)
        }.prefix(countMax / 2)
        failures = Dictionary(kept.map { ($0.key, $0.value) }) { first, _ in first }
    }
}
