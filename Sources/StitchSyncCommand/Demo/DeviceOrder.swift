/// An order of the demo's conductor to a device's process; one JSON line each.
enum DeviceOrder: Sendable, Codable, Equatable {
    /// Import a file of documents.
    case importFile(path: String)
    /// Carry out the remaining steps of the plan, and insert new documents.
    case edit(plan: String)
    /// Go online, add the remote's documents to the sync, and run passes until nothing is left.
    case sync
    /// The same without receiving the remote's first reply; the process is then killed.
    case syncWithoutAnswer
    /// Resume the paused documents.
    case resumePaused
    /// Report the number of pending changes.
    case status
}

/// A report of a device's process; one JSON line each.
enum DeviceReport: Sendable, Codable, Equatable {
    /// The number of documents of the current order stored or transferred so far.
    case reached(Int)
    /// The order is complete.
    case finished(DeviceTally)
    /// The order failed for this reason.
    case failed(String)
}

/// The counts of a device.
struct DeviceTally: Sendable, Codable, Equatable {
    /// The documents imported from the file.
    var imported = 0
    /// The rejected lines of the file.
    var rejected = 0
    /// The documents inserted, edited and deleted offline.
    var written = 0
    /// The documents uploaded to the remote.
    var sent = 0
    /// The documents downloaded from the remote, including removals.
    var taken = 0
    /// The conflicts that the handler resolved.
    var conflicts = 0
    /// The documents paused because the handler failed.
    var paused = 0
    /// The number of sync passes.
    var passes = 0
    /// The pending changes afterwards.
    var pending = 0
    /// The messages to the error listener.
    var errors: [String] = []
    /// The largest memory of the process so far, in KiB.
    var memoryKiB = 0

    /// Adds the counts of a later order; current values replace earlier ones.
    mutating func add(_ later: DeviceTally) {
        imported += later.imported
        rejected += later.rejected
        written += later.written
        sent += later.sent
        taken += later.taken
        conflicts += later.conflicts
        paused += later.paused
        passes += later.passes
        pending = later.pending
        errors += later.errors
        memoryKiB = max(memoryKiB, later.memoryKiB)
    }
}
