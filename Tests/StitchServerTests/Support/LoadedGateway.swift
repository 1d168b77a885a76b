import BSONStore
import Foundation
import TestProcesses

/// A gateway, and the clients of its administrator and of the database behind it.
struct LoadedGateway {
    /// The time in which an interrupted request ends; debug builds beside other tests are slow.
    static let allowed: Duration = .seconds(60)

    let upstream: ServerClient
    let port: Int
    let root: ServerClient
    /// The processes of both.
    let processes: (upstream: pid_t, gateway: pid_t)

    /// Sends the gateway SIGTERM; returns whether it ends in time.
    func stopsGateway(within limit: Duration) -> Bool {
        kill(processes.gateway, SIGTERM)
        let end = ContinuousClock.now + limit
        while .now < end {
            if kill(processes.gateway, 0) != 0 { return true }
            sched_yield()
        }
        return false
    }

    /// Whether a client's command with a name runs at the upstream.
    ///
    /// The gateway's feeds read their own streams all the time.
    func runs(_ name: String) throws -> Bool {
        let all = try upstream.run(["currentOp": 1], on: "admin")["inprog"]?.arrayValue ?? []
        return all.compactMap { $0.documentValue?["command"]?.documentValue }.contains {
            $0[name] != nil && $0["$db"] == "shop"
        }
    }

    /// Waits until a client's command with a name runs at the upstream.
    func waits(for name: String) throws {
        let end = ContinuousClock.now + Self.allowed
        while try !runs(name) {
            guard .now < end else { throw ProgramFailure(reason: "no \(name) runs") }
        }
    }

    /// Waits until the upstream's cursors are of a number.
    func cursors(become count: Int) throws -> Int {
        let end = ContinuousClock.now + Self.allowed
        while true {
            let all = try upstream.run(["currentOp": 1], on: "admin")["inprog"]?.arrayValue
            let open = (all ?? []).compactMap(\.documentValue).count {
                $0["type"] == "idleCursor" && $0["ns"] == "shop.items"
            }
            if open == count || .now > end { return open }
        }
    }

    /// Waits until no command with a name runs at the upstream; returns whether it ended.
    func ends(_ name: String) throws -> Bool {
        let end = ContinuousClock.now + Self.allowed
        while .now < end { if try !runs(name) { return true } }
        return false
    }
}
