import BSONStore

/// The place of the demo's remote.
enum DemoRemote: String, CaseIterable {
    /// A file that the devices' processes open.
    case file
    /// A `stitchsync serve` in a process of its own.
    case server
    /// Two gateways, one for each device, in front of such a process.
    case gateway
}

/// The script of the demo: it leads two devices, reports each step, and checks the result.
struct DemoConductor {
    private let input: String
    private let files: DemoFiles
    private let remote: DemoRemote
    private var servers: DemoServers?
    private let console: Console
    private let clock = ContinuousClock()
    private var tallies: [DemoPlan.Device: DeviceTally] = [:]
    private var durations: [DemoPlan.Device: Duration] = [:]

    /// The number of turns after which a demo that does not settle fails.
    private static let turnsMax = 20

    init(input: String, files: DemoFiles, remote: DemoRemote, console: Console) {
        self.input = input
        self.files = files
        self.remote = remote
        self.console = console
    }

    /// Runs the demo.
    ///
    /// - Returns: whether A, B and the remote hold the same documents at the end.
    mutating func run() async throws -> Bool {
        let began = clock.now
        try files.makeEmpty()
        if remote != .file {
            servers = try DemoServers(files, hasGateways: remote == .gateway)
        }
        defer { servers?.stop() }
        try await servers?.signUp()
        try begin()
        let planned = try plan()
        try killServers()
        try part(planned)
        try startServers()
        try meet(refusing: try firstPlannedID())
        let comparison = try StoreComparison(files)
        try showTable(comparison.counts, took: clock.now - began)
        return try conclude(comparison)
    }
}

// MARK: - The story

extension DemoConductor {
    /// A imports and syncs, B syncs.
    private mutating func begin() throws {
        let place = servers.map { " behind \($0.summary)" } ?? ""
        try console.say("Devices A and B with a remote\(place), stores in \(files.folder)")
        let a = try start(.a)
        try console.say("A imports \(input)")
        let imported = try carryOut(.importFile(path: input), .a, a)
        try note(
            "\(imported.imported.counted("document")), "
                + "\(imported.rejected.counted("line")) rejected")
        try sync(.a, a)
        try a.end()
        let b = try start(.b)
        try sync(.b, b)
        try b.end()
    }

    /// Writes the plan file, which lists the documents for both devices.
    private func plan() throws -> Int {
        let remote = try DocumentStore(at: .file(files.remote), options: .init(readOnly: true))
        defer { remote.close() }
        return try PlanReader.write(files.plan, for: remote)
    }

    /// Both devices go offline and write; A is killed while writing.
    private mutating func part(_ planned: Int) throws {
        try console.say("Both go offline.")
        let edits = (0..<planned).count { DemoPlan.edits(of: .a, at: $0) }
        try killWhileWriting(after: max(edits / 2, 1))
        let a = try start(.a)
        try write(.a, a)
        try a.end()
        let b = try start(.b)
        try write(.b, b)
        try b.end()
    }

    private func killServers() throws {
        guard let servers else { return }
        servers.kill()
        try console.say("\(servers.name) \(servers.verbs.areKilled).")
    }

    private func startServers() throws {
        guard let servers else { return }
        try servers.start()
        let swap = remote == .gateway ? ", and each device takes the other gateway" : ""
        try console.say("\(servers.name) \(servers.verbs.start) again\(swap).")
    }

    private mutating func write(_ device: DemoPlan.Device, _ process: DeviceProcess) throws {
        try console.say("\(device.rawValue) writes")
        let tally = try carryOut(.edit(plan: files.plan), device, process)
        try note("stored: \(tally.written.counted("change")), pending: \(tally.pending)")
    }

    private mutating func killWhileWriting(after edits: Int) throws {
        let a = try start(.a)
        var stored = 0
        try console.say("A writes, and is killed in the middle of it")
        let ended = try a.carryOut(.edit(plan: files.plan)) {
            stored = $0
            return $0 < edits
        }
        try a.kill()
        stored = ended?.written ?? stored
        try note("stored: \(stored.counted("change")); the process is killed (SIGKILL)")
        let again = try start(.a)
        try console.say("A starts again")
        let status = try carryOut(.status, .a, again)
        try again.end()
        guard status.pending >= stored else {
            throw CommandError(
                "A lost \((stored - status.pending).counted("change")) when it was killed")
        }
        try note("pending: \(status.pending.counted("change")); none is lost")
        tallies[.a, default: DeviceTally()].written += status.pending
    }

    /// Both devices go online; the one with a paused document resumes it.
    private mutating func meet(refusing id: BSONValue?) throws {
        try console.say("Both come online.")
        try killWhileSending()
        let a = try start(.a, refusing: id)
        let b = try start(.b, refusing: id)
        try syncInTurns([(.a, a), (.b, b)])
        let isPausedOnB = tallies[.b]?.paused ?? 0 > 0
        let device: DemoPlan.Device = isPausedOnB ? .b : .a
        try console.say("\(device.rawValue) resumes what is paused.")
        _ = try carryOut(.resumePaused, device, isPausedOnB ? b : a)
        try syncInTurns(isPausedOnB ? [(.b, b), (.a, a)] : [(.a, a), (.b, b)])
        try a.end()
        try b.end()
    }

    /// Kills A after the remote has applied its changes, but before A receives the reply.
    private mutating func killWhileSending() throws {
        let a = try start(.a)
        try console.say("A syncs, and is killed before it hears the remote's answer")
        var reached = 0
        _ = try a.carryOut(.syncWithoutAnswer) {
            reached = $0
            return false
        }
        try a.kill()
        try note("at the remote: \(reached.counted("change")); the process is killed (SIGKILL)")
        tallies[.a, default: DeviceTally()].sent += reached
    }

    /// Syncs two devices in turns until one has nothing new for the other.
    private mutating func syncInTurns(
        _ devices: [(device: DemoPlan.Device, process: DeviceProcess)]
    ) throws {
        for turn in 0..<Self.turnsMax {
            let next = devices[turn % devices.count]
            let tally = try sync(next.device, next.process)
            if turn > 0, tally.sent == 0 { return }
        }
        throw CommandError("the devices still exchange changes after \(Self.turnsMax) turns")
    }

    @discardableResult
    private mutating func sync(
        _ device: DemoPlan.Device, _ process: DeviceProcess
    ) throws -> DeviceTally {
        try console.say("\(device.rawValue) syncs")
        let tally = try carryOut(.sync, device, process)
        try note(
            "\(tally.sent) sent, \(tally.taken) taken, \(tally.conflicts.counted("conflict")) settled "
                + "in \(tally.passes.counted("pass", plural: "passes"))")
        for error in tally.errors { try note("error: \(error)") }
        if tally.paused > 0 { try note("\(tally.paused.counted("document")) paused") }
        return tally
    }
}

// MARK: - Processes

extension DemoConductor {
    private func start(
        _ device: DemoPlan.Device, refusing id: BSONValue? = nil
    ) throws -> DeviceProcess {
        var arguments = ["demo-device", device.rawValue, "--work", files.folder]
        if let servers { arguments += ["--remote", servers.uri(for: device)] }
        if let id { arguments += ["--refusing", id.extendedJSON(.canonical)] }
        return try DeviceProcess(arguments: arguments)
    }

    private mutating func carryOut(
        _ order: DeviceOrder, _ device: DemoPlan.Device, _ process: DeviceProcess
    ) throws -> DeviceTally {
        let began = clock.now
        guard let tally = try process.carryOut(order) else { return DeviceTally() }
        durations[device, default: .zero] += clock.now - began
        tallies[device, default: DeviceTally()].add(tally)
        return tally
    }

    private func firstPlannedID() throws -> BSONValue? {
        var reader = try PlanReader(files.plan)
        defer { reader.close() }
        return try reader.next()?.id
    }
}

// MARK: - The end

extension DemoConductor {
    private func note(_ line: String) throws { try console.say("    " + line) }

    private func showTable(_ counts: StoreComparison.Counts, took: Duration) throws {
        var table = TextTable(["", "A", "B", "remote"])
        func row(_ title: String, _ cell: (DeviceTally, DemoPlan.Device) -> String) {
            let cells = DemoPlan.Device.allCases.map { cell(tallies[$0] ?? DeviceTally(), $0) }
            table.append([title] + cells)
        }
        table.append(["documents"] + [counts.a, counts.b, counts.remote].map(String.init))
        row("imported") { tally, _ in "\(tally.imported)" }
        row("written offline") { tally, _ in "\(tally.written)" }
        row("sent to the remote") { tally, _ in "\(tally.sent)" }
        row("taken from the remote") { tally, _ in "\(tally.taken)" }
        row("conflicts settled") { tally, _ in "\(tally.conflicts)" }
        row("paused and resumed") { tally, _ in "\(tally.paused)" }
        row("passes") { tally, _ in "\(tally.passes)" }
        row("seconds") { _, device in Self.seconds(durations[device] ?? .zero) }
        row("largest memory in MiB") { tally, _ in "\(tally.memoryKiB / 1024)" }
        try console.say("")
        for line in table.lines { try console.say(line) }
        try console.say("")
        try console.say("The whole took \(Self.seconds(took)) seconds.")
    }

    private func conclude(_ comparison: StoreComparison) throws -> Bool {
        for fault in comparison.faults { try console.say("not in step: \(fault)") }
        guard comparison.faults.isEmpty else { return false }
        let counts = comparison.counts
        try console.say(
            "in step: \(counts.a.counted("document")) on A, \(counts.b) on B, \(counts.remote) at the remote"
        )
        return true
    }

    private static func seconds(_ duration: Duration) -> String {
        let tenths = duration / .milliseconds(100)
        return "\(Int(tenths) / 10).\(Int(tenths) % 10)"
    }
}
