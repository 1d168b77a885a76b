/// Something that a user does, and what its cost grows with.
struct Road {
    /// What grows from one size to the next.
    enum Growth: String {
        case documents, fields, elements, values, branches, bytes, words, matches, corners, depth
        case subscriptions, collections, indexes, users, roles, devices, streams, sessions, cursors
        case changes, conflicts, events, writes, statements
    }

    /// The name, which `ROAD=` chooses.
    let name: String
    /// What grows.
    let growth: Growth
    /// The least n.
    let from: Int
    /// The largest size, so 8n at most.
    let upTo: Int
    /// Whether one preparation serves several runs.
    let isRepeatable: Bool
    /// Why the cost may grow faster than n log n; `nil` if it may not.
    let reason: String?
    /// Makes what the road needs at one size, which is not measured.
    let prepare: (_ n: Int) async throws -> Trip

    /// Makes a road that can be taken again after one preparation.
    init(
        _ name: String, _ growth: Growth, from: Int = 100, upTo: Int, reason: String? = nil,
        prepare: @escaping (_ n: Int) async throws -> Trip
    ) {
        (self.name, self.growth, self.from, self.upTo) = (name, growth, from, upTo)
        (self.reason, self.prepare, isRepeatable) = (reason, prepare, true)
    }

    /// Makes a road that needs a preparation each time.
    init(
        once name: String, _ growth: Growth, from: Int = 100, upTo: Int, reason: String? = nil,
        prepare: @escaping (_ n: Int) async throws -> Trip
    ) {
        (self.name, self.growth, self.from, self.upTo) = (name, growth, from, upTo)
        (self.reason, self.prepare, isRepeatable) = (reason, prepare, false)
    }
}

/// A prepared road at one size.
struct Trip {
    /// What is measured.
    let run: () async throws -> Void
    /// What is done afterwards, unmeasured.
    let end: () async throws -> Void

    /// Makes a trip from what is measured.
    init<Result>(
        end: @escaping () async throws -> Void = {},
        _ run: @escaping () async throws -> Result
    ) {
        self.run = { _ = try await run() }
        self.end = end
    }
}
