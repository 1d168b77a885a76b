internal import BSONStore

/// The result of a loop's last pass, for the watches of remotes.
struct LastPass: Sendable {
    /// Whether the pass did not reach the remote or made no progress.
    var isFailing = false
    /// Whether the pass found nothing to do.
    var isQuiet = false
}

/// The counts of a remote's changes, which may arrive at any rate and be irrelevant.
struct SpuriousWakeups {
    private struct Counts {
        var place: ResumeToken?
        /// Passes in a row that found nothing, and how many of them at an unchanged position.
        var all = 0
        var atToken = 0
        /// How many more wakes could follow at once without a pause, at the time of the last one.
        var credit = Double(SpuriousWakeups.wakesAtOnce)
        var creditedAt = Duration.zero
    }

    /// The number of wakes that have no pause before them, however quickly they follow each other.
    static let wakesAtOnce = 1_000
    /// The number of wakes a second that never leads to a pause.
    static let wakesPerSecond = 100
    /// The pause before each further one; changes that arrive in it share a pass.
    static let busyPause = Duration.milliseconds(10)

    private var counts: [Namespace: Counts] = [:]

    /// Returns whether the position differs from that of the last change, and stores it.
    mutating func isNew(_ token: ResumeToken, of namespace: Namespace) -> Bool {
        defer { counts[namespace, default: Counts()].place = token }
        return counts[namespace]?.place != token
    }

    /// Notes a wake, and whether its pass found nothing to do.
    ///
    /// - Parameter time: the time since the watch began.
    mutating func note(_ namespace: Namespace, isSpurious: Bool, isNew: Bool, at time: Duration) {
        var count = counts[namespace] ?? Counts()
        let earned = Double(Self.wakesPerSecond) * ((time - count.creditedAt) / .seconds(1))
        count.credit = min(count.credit + earned, Double(Self.wakesAtOnce)) - 1
        count.creditedAt = time
        count.all = isSpurious ? count.all + 1 : 0
        count.atToken = isSpurious && !isNew ? count.atToken + 1 : 0
        counts[namespace] = count
    }

    /// Returns the pauses before collections are watched again: growing ones where the history does
    /// not move on, and short ones where it moves on with irrelevant changes or very many of them.
    func delays(_ backoff: Backoff) -> [Namespace: Duration] {
        counts.compactMapValues { count in
            if count.atToken > 1 {
                return backoff.delay(afterFailures: count.atToken - 1, jitter: 1)
            }
            guard count.all > 10 else {
                return count.credit < 0 ? Self.busyPause : nil
            }
            return min(backoff.initial, .milliseconds(10) * (1 << min(count.all - 10, 10)))
        }
    }
}
