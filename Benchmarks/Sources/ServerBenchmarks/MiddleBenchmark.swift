import BenchmarkDriver
import Foundation

/// The cost of a gateway: operations through it, by a user under rules, beside the same ones sent to
/// its upstream directly.
struct MiddleBenchmark {
    private let upstream: ServedStore
    private let gateway: ServedStore
    /// The address of the gateway with the user's password.
    private let through: String

    /// Starts both, and makes a user who may read and write the database `bench`.
    init(tool: String, rules: String) throws {
        upstream = try ServedStore(tool: tool)
        gateway = try ServedStore(
            tool: tool,
            ["--upstream", upstream.address + "?replicaSet=rs0", "--auth", "--rules", rules])
        through = gateway.address.replacing("://", with: "://ann:bench@")
        let user = """
            {"createUser": "NAME", "pwd": "bench", "roles": [{"role": "ROLE", "db": "DATABASE"}]}
            """
        func create(_ name: String, _ role: String, _ database: String, at address: String) {
            let command = user.replacing("NAME", with: name).replacing("ROLE", with: role)
                .replacing("DATABASE", with: database)
            precondition(driver_command(address, command) == 0, "the gateway makes users")
        }
        create("root", "root", "admin", at: gateway.address)
        create(
            "ann", "readWrite", "bench",
            at: gateway.address.replacing("://", with: "://root:bench@"))
        precondition(driver_prepare(upstream.address) == 0, "the upstream takes documents")
    }

    func run() throws {
        print(pad("microseconds") + "    direct   gateway     ratio")
        for row in [ServerRow.findByID, .findIndexed, .count, .insert, .insertMany, .update] {
            var (direct, middle) = ([Double](), [Double]())
            for _ in 0..<5 {
                direct += try measured(upstream.address, row)
                middle += try measured(through, row)
            }
            let (one, other) = (Latency(direct).middle, Latency(middle).middle)
            print(pad(row.rawValue) + text(one) + text(other) + text(other / one))
        }
        var (direct, middle) = ([Double](), [Double]())
        for _ in 0..<50 {
            direct += try followed(upstream.address)
            middle += try followed(through)
        }
        let (one, other) = (Latency(direct).middle, Latency(middle).middle)
        print(pad("change event") + text(one) + text(other) + "   + \(text(other - one, 0)) us")
        try gateway.end()
        try upstream.end()
    }

    private func measured(_ address: String, _ row: ServerRow) throws -> [Double] {
        var times = [Double](repeating: 0, count: max(4, row.count / 10))
        let code = driver_run(address, row.driverRow, 1, times.count, &times)
        precondition(code == 0, "\(row.rawValue) fails")
        // The first ones open the connection and sign in.
        return Array(times.dropFirst(2))
    }

    private func followed(_ address: String) throws -> [Double] {
        var times = [0.0]
        precondition(driver_follow(address, upstream.address, 1, 1, &times) == 0, "the stream ends")
        return times
    }
}
