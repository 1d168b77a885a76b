internal import BSONStore

extension SyncEngine {
    /// What the engine knows about the cost of the network.
    struct Metering: Sendable, Hashable {
        var policy = NetworkPolicy.everything
        /// The system's report.
        var isMeteredBySystem = false
        /// The app's word, which replaces the system's report; `nil` for none.
        var isMeteredByApp: Bool?

        var isMetered: Bool { isMeteredByApp ?? isMeteredBySystem }

        /// The policy that applies now.
        var current: NetworkPolicy { isMetered ? policy : .everything }
    }

    /// Whether the network is metered, for example a cellular one, as the system or the app reported.
    public var isMetered: Bool { state.withLock { $0.metering.isMetered } }

    /// Sets what ``run()`` transfers while the network is metered.
    ///
    /// The engine does not store the policy; set it after each start. A running pass or file goes on
    /// until its end, or until the next piece of the file.
    public func setNetworkPolicy(_ policy: NetworkPolicy) { meter { $0.policy = policy } }

    /// Sets whether the network is metered, where the app knows it better than the system.
    ///
    /// On Apple platforms the engine asks the system while ``run()`` runs: a network is metered if
    /// it is expensive, or if the user wants it to carry little ("Low Data Mode"). On other platforms
    /// a network is not metered until the app says so.
    ///
    /// - Parameter isMetered: `nil` to use the system's report again.
    public func noteMetered(_ isMetered: Bool?) { meter { $0.isMeteredByApp = isMetered } }

    /// Notes the system's report.
    func noteSystemNetwork(isMetered: Bool) { meter { $0.isMeteredBySystem = isMetered } }

    /// Whether the engine may sync by itself now.
    var syncsByItself: Bool {
        state.withLock { $0.isOnline && !$0.isSuspended && $0.metering.current.allowsPasses }
    }

    /// Whether the engine may send or load a file by itself now.
    func carriesByItself(_ file: Attachment) -> Bool {
        state.withLock {
            $0.isOnline && !$0.isSuspended && $0.metering.current.allows(file)
        }
    }

    /// Checks that a pass may run by itself.
    func checkSyncsByItself() throws(SyncError) {
        guard !state.withLock({ $0.metering.current.allowsPasses }) else { return }
        throw SyncError(
            .offline, "the network is metered, and its policy is to sync only when asked")
    }

    private func meter(_ change: (inout Metering) -> Void) {
        let (before, after) = state.withLock { state in
            let before = state.metering.current
            change(&state.metering)
            return (before, state.metering.current)
        }
        guard before != after else { return }
        // The remotes to watch may be others.
        passes.notify()
        wake()
        files.wakes.notify()
    }
}
