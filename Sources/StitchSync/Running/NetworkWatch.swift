internal import BSONStore

#if canImport(Network)
    internal import Dispatch
    internal import Network
#endif

/// The watch of the network, which wakes the loop when it returns.
struct NetworkWatch {
    let remote: any Remote
    /// Signals that there is work.
    let wakes: Signal
    /// Receives whether the system's network is metered, now and after each change.
    let noteMetered: @Sendable (Bool) -> Void

    /// A state of the system's network.
    private struct SystemNetwork: Sendable {
        let isReachable: Bool
        let isMetered: Bool
    }

    /// Wakes the loop when the network or the remote becomes reachable, without polling.
    ///
    /// The sources are the system, where it reports its network, and ``Remote/reachability``. The
    /// call returns when both have ended.
    func run() async {
        await withTaskGroup { group in
            if let news = remote.reachability {
                group.addTask { await self.wakeWhenOnline(news) }
            }
            if let states = Self.systemNetwork() {
                group.addTask { await self.follow(states) }
            }
        }
    }

    /// Wakes the loop after each change from unreachable to reachable.
    private func wakeWhenOnline(_ news: AsyncStream<Bool>) async {
        var wasAway = false
        for await isThere in news { note(isThere, &wasAway) }
    }

    private func follow(_ states: AsyncStream<SystemNetwork>) async {
        var wasAway = false
        for await state in states {
            noteMetered(state.isMetered)
            note(state.isReachable, &wasAway)
        }
    }

    private func note(_ isThere: Bool, _ wasAway: inout Bool) {
        if isThere && wasAway { wakes.notify() }
        wasAway = !isThere
    }

    /// The system's network, now and after each change; `nil` where the system does not report it.
    private static func systemNetwork() -> AsyncStream<SystemNetwork>? {
        #if canImport(Network)
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { path in
                    continuation.yield(
                        SystemNetwork(
                            isReachable: path.status == .satisfied,
                            isMetered: path.isExpensive || path.isConstrained))
                }
                continuation.onTermination = { _ in monitor.cancel() }
                monitor.start(queue: .global(qos: .utility))
            }
        #else
            nil
        #endif
    }
}
