internal import BSONStore

/// What the last pass of a loop tells those who watch the remotes.
struct LastPass: Sendable {
    /// It did not reach the remote, or nothing got on.
    var isFailing = false
    /// There was nothing to do.
    var isQuiet = false
}

/// Counts news of a remote for which passes find nothing to do: they may come at any rate.
struct SpuriousWakeups {
    private struct Counts {
        var place: ResumeToken?
        /// Passes in a row that found nothing, and how many of them at a place from before.
        var all = 0
        var atToken = 0
    }

    private var counts: [Namespace: Counts] = [:]

    /// Whether the news are told after another place than the last ones.
    mutating func isNew(_ token: ResumeToken, of namespace: Namespace) -> Bool {
        defer { counts[namespace, default: Counts()].place = token }
        return counts[namespace]?.place != token
    }

    mutating func note(_ namespace: Namespace, isSpurious: Bool, isNew: Bool) {
        var count = counts[namespace] ?? Counts()
        count.all = isSpurious ? count.all + 1 : 0
        count.atToken = isSpurious && !isNew ? count.atToken + 1 : 0
        counts[namespace] = count
    }

    /// How long to wait before collections are watched again: longer and longer where the history stays
    /// where it is, and for a moment where it gets on with what concerns nobody here.
    func delays(_ backoff: Backoff) -> [Namespace: Duration] {
        counts.compactMapValues { count in
            if count.atToken > 1 {
                return backoff.delay(afterFailures: count.atToken - 1, jitter: 1)
            }
            guard count.all > 10 else { return nil }
            return min(backoff.initial, .milliseconds(10) * (1 << min(count.all - 10, 10)))
        }
    }
}
