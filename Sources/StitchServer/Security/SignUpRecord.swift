internal import BSONStore

/// The sign-ups, or other requests of strangers, of the last hour, to bound how many there are.
///
/// A sign-up under a name that is taken counts, too, since it tests the name. The record has at most
/// as many entries as ``SignUpLimits`` allows sign-ups.
final class SignUpRecord: Sendable {
    /// The time after which a sign-up is forgotten.
    static let memory: Duration = .seconds(3_600)

    private struct Attempt: Sendable {
        let network: Name
        let time: ContinuousClock.Instant
    }

    private let limits: SignUpLimits
    /// The name of the requests in errors.
    private let subject: String
    private let attempts = Locked<[Attempt]>([])
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// Creates an empty record that uses a clock.
    init(
        _ limits: SignUpLimits, of subject: String = "sign-ups",
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.subject = subject
        self.clock = clock
    }

    /// The number of entries.
    var count: Int { attempts.withLock { $0.count } }

    /// Counts a sign-up.
    ///
    /// - Throws: 462 (IngressRequestRateLimitExceeded) beyond the limits, with the seconds until the
    ///   next sign-up is allowed; it is not counted then.
    func admit(peer: String) throws(CommandFailure) {
        let host = peer.lastIndex(of: ":").map { peer[..<$0] } ?? peer[...]
        let network = Name(SignInDelay.network(host))
        let now = clock()
        let isFreeAt = attempts.withLock { attempts -> ContinuousClock.Instant? in
            let first = attempts.firstIndex { $0.time + Self.memory > now } ?? attempts.count
            attempts.removeFirst(first)
            let own = attempts.filter { $0.network == network }
            let oldest =
                attempts.count >= limits.inAll
                ? attempts.first : own.count >= limits.ofAddress ? own.first : nil
            guard let oldest else {
                attempts.append(Attempt(network: network, time: now))
                return nil
            }
            return oldest.time + Self.memory
        }
        guard let isFreeAt else { return }
        let seconds = (isFreeAt - now).components.seconds + 1
        throw CommandFailure(
            462, "too many \(subject); try again in \(seconds) s",
            details: ["retryAfterSeconds": .int32(Int32(clamping: seconds))])
    }
}
