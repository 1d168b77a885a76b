internal import BSONStore

/// The figures of one second, from the counts at its beginning and its end.
struct ConsoleStats {
    private let server: ServerContext
    private let backend: any CommandBackend
    private var last: [Name: Int]
    private var lastTime = ContinuousClock.now

    init(_ server: ServerContext, _ backend: any CommandBackend) {
        self.server = server
        self.backend = backend
        last = Self.counts(server)
    }

    private static func counts(_ server: ServerContext) -> [Name: Int] {
        Dictionary(
            server.metrics.all.map { (Name($0.name), $0.calls.count) }, uniquingKeysWith: max)
    }

    /// Returns the figures since the last call.
    mutating func next() -> BSONDocument {
        let (now, counts) = (ContinuousClock.now, Self.counts(server))
        let seconds = max((now - lastTime) / .seconds(1), 0.001)
        var commands = BSONDocument()
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            let rate = Double(count - (last[name] ?? 0)) / seconds
            if rate > 0 { commands.append(name.text, .double((rate * 10).rounded() / 10)) }
        }
        (last, lastTime) = (counts, now)
        let latency = server.metrics.latency
        let cursors = backend.counts.cursors
        let devices = server.connections.withLock { $0.values }.filter { $0.device != nil }
        var sample: BSONDocument = [
            "time": .int64(BSONDatetime.now.milliseconds),
            "connections": .int32(Int32(clamping: server.connectionsOpen)),
            "devices": .int32(Int32(clamping: devices.count)),
            "commands": .document(commands),
            "latencyMS": [
                "median": .double(latency.median), "p99": .double(latency.ninetyNinth),
            ],
            "deniedWrites": .int64(Int64(server.deniedWrites.count)),
            "cursors": .int64(cursors.total),
            "waiting": .int32(Int32(clamping: server.operations.all.count)),
        ]
        for (name, value) in figures() { sample.append(name, value) }
        return sample
    }

    /// Returns the conflicts, the bytes on disk and the upstream.
    private func figures() -> BSONDocument {
        let figures: BackendFigures
        do {
            figures = try backend.figures()
        } catch {
            // The next second tries again; the page shows dashes.
            figures = BackendFigures()
        }
        let upstream = figures.upstream.map { upstream -> BSONValue in
            let milliseconds = upstream.latency / .milliseconds(1)
            return [
                "reachable": .bool(upstream.isReachable),
                "latencyMS": .double((milliseconds * 100).rounded() / 100),
                "feeds": .int32(Int32(clamping: upstream.feeds)),
            ]
        }
        return [
            "conflicts": figures.conflicts.map { .int64($0) } ?? .null,
            "storageBytes": figures.storageBytes.map { .int64($0) } ?? .null,
            "upstream": upstream ?? .null,
        ]
    }
}
