/// Decides which collections a running engine syncs now, and how long it may wait.
///
/// Times are measured from the start of the run.
enum SyncSchedule {
    /// What is known of one collection.
    struct Facts: Hashable {
        var frequency: SyncFrequency
        /// When a pass last found nothing more to do; `nil` before the first.
        var lastQuiet: Duration?
    }

    /// What becomes of one collection.
    enum Decision: Hashable {
        /// Sync it now.
        case now
        /// Sync it after a while.
        case after(Duration)
        /// Leave it until the app asks.
        case never
    }

    /// - Parameter now: the time.
    static func decide(_ facts: Facts, now: Duration) -> Decision {
        switch facts.frequency {
        case .reactive: return .now
        case .onDemand: return .never
        case .scheduled(let interval, isConnected: _):
            guard let lastQuiet = facts.lastQuiet else { return .now }
            let rest = lastQuiet + interval - now
            return rest > .zero ? .after(rest) : .now
        }
    }

    /// Whether the remote's history is followed between passes.
    static func isWatched(_ frequency: SyncFrequency) -> Bool {
        switch frequency {
        case .reactive, .scheduled(every: _, isConnected: true): true
        case .scheduled(every: _, isConnected: false), .onDemand: false
        }
    }
}
