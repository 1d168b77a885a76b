/// The schedule by which a running engine syncs its collections.
///
/// Times are measured from the start of the run.
enum SyncSchedule {
    /// The facts about one collection.
    struct Facts: Hashable {
        var frequency: SyncFrequency
        /// The time at which a pass last found nothing more to do; `nil` before the first.
        var lastQuiet: Duration?
    }

    /// The next sync of one collection.
    enum Decision: Hashable {
        /// Sync the collection now.
        case now
        /// Sync the collection after a pause.
        case after(Duration)
        /// Wait for the app's call.
        case never
    }

    /// Decides when to sync a collection.
    ///
    /// - Parameter now: the current time.
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

    /// Whether the engine follows the remote's history between passes.
    static func isWatched(_ frequency: SyncFrequency) -> Bool {
        switch frequency {
        case .reactive, .scheduled(every: _, isConnected: true): true
        case .scheduled(every: _, isConnected: false), .onDemand: false
        }
    }
}
