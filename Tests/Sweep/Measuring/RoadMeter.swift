import Foundation

/// Measures one road at one size.
struct RoadMeter {
    let road: Road
    /// The processes whose time belongs to the road.
    let servers: () -> [pid_t]
    /// The most runs of one round.
    private static let runsMax = 200
    /// A run that needs longer is not measured again, in nanoseconds.
    private static let longNS = 5e8

    /// Returns the least mean time of a run over some rounds, in nanoseconds.
    func time(at size: Int, leastNS: Double, rounds: Int) async throws -> Double {
        var least = Double.infinity
        if road.isRepeatable {
            let trip = try await road.prepare(size)
            // What only the first run does.
            let first = try await once(trip)
            for _ in 0..<rounds {
                guard first < Self.longNS || least == .infinity else { break }
                least = min(least, try await mean(leastNS) { try await once(trip) })
            }
            try await trip.end()
            return least
        }
        for _ in 0..<rounds {
            let round = try await mean(leastNS) {
                let trip = try await road.prepare(size)
                let ns = try await once(trip)
                try await trip.end()
                return ns
            }
            least = min(least, round)
            guard round < Self.longNS else { break }
        }
        return least
    }

    private func mean(
        _ leastNS: Double, _ run: () async throws -> Double
    ) async throws -> Double {
        var (total, count) = (0.0, 0)
        repeat {
            total += try await run()
            count += 1
        } while total < leastNS && count < (road.isRepeatable ? Self.runsMax : 10)
        return total / Double(count)
    }

    private func once(_ trip: Trip) async throws -> Double {
        let processes = servers()
        let start = ProcessorTime.nanoseconds(with: processes)
        try await trip.run()
        return ProcessorTime.nanoseconds(with: processes) - start
    }
}
