internal import BSONStore

#if canImport(Network)
    internal import Network
#endif

extension SyncEngine {
    /// Wakes the loop when the network or the remote becomes reachable, without polling.
    ///
    /// The sources are the system, where it reports its network, and ``Remote/reachability``. The
    /// call returns when both have ended.
    func watchNetwork() async {
        await withTaskGroup { group in
            for news in [remote.reachability, Self.systemNetwork()].compactMap(\.self) {
                group.addTask { await self.wakeWhenOnline(news) }
            }
        }
    }

    /// Wakes the loop after each change from unreachable to reachable.
    private func wakeWhenOnline(_ news: AsyncStream<Bool>) async {
        var wasAway = false
        for await isThere in news {
            if isThere && wasAway { wake() }
            wasAway = !isThere
        }
    }

    /// Whether the system has a network, now and after each change; `nil` where it does not report
    /// it.
    private static func systemNetwork() -> AsyncStream<Bool>? {
        #if canImport(Network)
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
                continuation.onTermination = { _ in monitor.cancel() }
                monitor.start(queue: .global(qos: .utility))
            }
        #else
            nil
        #endif
    }
}
