/// Says what the demo's conductor wants a device's process to do; one JSON line each.
enum DeviceOrder: Sendable, Codable, Equatable {
    /// Import a file of documents.
    case importFile(path: String)
    /// Go through the plan and carry out what is not yet done, and insert new documents.
    case edit(plan: String)
    /// Go online, adopt what the remote has, and run passes until there is nothing to do.
    case sync
    /// The same, but never hear the remote's first answer; the process is to be killed then.
    case syncWithoutAnswer
    /// Let the paused documents take part again.
    case resumePaused
    /// Tell how many changes are pending.
    case status
}

/// Says what a device's process did; one JSON line each.
enum DeviceReport: Sendable, Codable, Equatable {
    /// So many documents of the running order are stored, or have crossed to the remote.
    case reached(Int)
    /// The order is carried out.
    case finished(DeviceTally)
    /// The order failed, and why.
    case failed(String)
}

/// Counts what a device did.
struct DeviceTally: Sendable, Codable, Equatable {
    /// Documents imported from the file.
    var imported = 0
    /// Lines of the file that were rejected.
    var rejected = 0
    /// Documents inserted, edited and deleted offline.
    var written = 0
    /// Documents sent to the remote.
    var sent = 0
    /// Documents taken from the remote, removals included.
    var taken = 0
    /// Conflicts that the handler settled.
    var conflicts = 0
    /// Documents that were paused since the handler failed.
    var paused = 0
    /// Sync passes.
    var passes = 0
    /// Changes that wait to be sent, afterwards.
    var pending = 0
    /// What the error listener was told.
    var errors: [String] = []
    /// The largest memory of the process so far, in KiB.
    var memoryKiB = 0

    /// Adds what another order of the same device did; what is a state takes the later one's.
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
