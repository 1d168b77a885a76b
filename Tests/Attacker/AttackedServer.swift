import BSONStore
import Foundation
import TestProcesses

/// A server process with a file, and what it acknowledged.
final class AttackedServer {
    /// How long one answer may take, on a busy machine too.
    static let patience: Duration = .seconds(20)
    /// What the server may hold when nothing is under way: 64 MiB of pages, 48 MiB of the program,
    /// 192 MiB of memory that is free again, and a reader's 2 MiB for each thread.
    private static let residentMax = (64 + 48 + 192 + 64 * 2) << 20

    /// What the server acknowledged.
    var ledger = WireLedger()
    private let process: ServerProcess

    /// Starts a server.
    init() throws { process = try ServerProcess.start() }

    /// The port it listens on.
    var port: Int { process.port }

    /// Whether the process lives and answers.
    func check() async throws -> AttackOutcome.End {
        let port = port
        let isAnswering = try await BlockingThread.run {
            guard let client = WireClient(port: port) else { return false }
            switch client.run(["ping": 1, "$db": "admin"], within: Self.patience) {
            case .reply: return true
            case .closed, .silent: return false
            }
        }
        if !process.isRunning { return .trap }
        return isAnswering ? .clean : .hang
    }

    /// Starts the server again after it died or hung.
    func restart() throws { try process.restart(SIGKILL) }

    /// Ends the server in order, and looks at what it leaves.
    ///
    /// - Parameter resident: the memory that it held when nothing was under way.
    func end(_ what: String, resident: Int?) -> AttackOutcome {
        var outcome = AttackOutcome(what: what)
        if let resident, resident > Self.residentMax {
            outcome.excesses.append("the server holds \(resident >> 20) MiB")
        }
        let size = resident.map { "\($0 >> 20) MiB" } ?? "no size known"
        outcome.output = "\(size), \(ledger.count) documents"
        if !process.isRunning {
            outcome.end = .trap
        } else if !process.end(SIGTERM, within: .seconds(30)) {
            outcome.end = .hang
        }
        outcome.lost = ledger.losses(inFileAt: process.path)
        return outcome
    }

    /// Ends the process whatever it does, and removes its file.
    func remove() { process.remove() }

    /// How long the server may take to return memory after the last request.
    private static let restsWithin: Duration = .seconds(2)

    /// The memory of the process at rest: as soon as it is within the bound, or what it is in the end.
    func restingBytes() async throws -> Int? {
        let number = process.processID
        return try await BlockingThread.run {
            let deadline = ContinuousClock.now + Self.restsWithin
            while true {
                guard let bytes = Self.residentBytes(of: number) else { return nil }
                if bytes <= Self.residentMax || ContinuousClock.now > deadline { return bytes }
                Flood.pause()
            }
        }
    }

    /// The memory of a process, where the system tells.
    private static func residentBytes(of number: pid_t) -> Int? {
        guard let status = FileManager.default.contents(atPath: "/proc/\(number)/status")
        else { return nil }
        let text = String(decoding: status, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
        return line?.split(separator: " ").compactMap { Int($0) }.first.map { $0 << 10 }
    }
}
