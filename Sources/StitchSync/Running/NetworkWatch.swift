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

    /// Wakes the loop when the network or the remote becomes reachable, without polling.
    ///
    /// The sources are the system, where it reports its network, and ``Remote/reachability``. The
    /// call returns when both have ended.
    func run() async {
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
            if isThere && wasAway { wakes.notify() }
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
