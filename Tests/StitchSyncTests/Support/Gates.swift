/// Holds answers until a test lets them go.
actor Gates {
    private var arrived = 0
    private var opened: Set<Int> = []
    private var held: [Int: CheckedContinuation<Void, Never>] = [:]
    private var watcher: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    /// Waits until a gate is open.
    func pass(_ number: Int) async {
        arrived += 1
        if let watcher, arrived >= watcher.count {
            self.watcher = nil
            watcher.continuation.resume()
        }
        guard !opened.contains(number) else { return }
        await withCheckedContinuation { held[number] = $0 }
    }

    /// Opens a gate for good.
    func open(_ number: Int) {
        opened.insert(number)
        held.removeValue(forKey: number)?.resume()
    }

    /// Waits until a number of answers have come to their gates.
    func waitForArrivals(_ count: Int) async {
        guard arrived < count else { return }
        await withCheckedContinuation { watcher = (count, $0) }
    }
}
