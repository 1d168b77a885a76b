internal import BSONStore

/// The times of the last quiet passes, and the choice of the collections that are due.
struct SyncAgenda {
    private let stopwatch: Stopwatch
    private var idleSince: [Namespace: Duration] = [:]

    init(clock: any Clock<Duration>) { stopwatch = Stopwatch(clock) }

    /// Returns the collections to sync now, and the time until the next of the others is due.
    func due(
        _ frequencies: [(Namespace, SyncFrequency)]
    ) -> (due: Set<Namespace>, rest: Duration?) {
        var due: Set<Namespace> = []
        var rest: Duration?
        let now = stopwatch.elapsed
        for (namespace, frequency) in frequencies {
            let facts = SyncSchedule.Facts(frequency: frequency, lastQuiet: idleSince[namespace])
            switch SyncSchedule.decide(facts, now: now) {
            case .now: due.insert(namespace)
            case .after(let wait): rest = min(rest ?? wait, wait)
            case .never: break
            }
        }
        return (due, rest)
    }

    /// Notes that a pass found nothing more to do in some collections.
    mutating func recordIdle(_ namespaces: Set<Namespace>) {
        let now = stopwatch.elapsed
        for namespace in namespaces { idleSince[namespace] = now }
    }
}
