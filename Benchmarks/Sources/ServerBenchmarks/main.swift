import BenchmarkDriver
import Foundation

// usage: ServerBenchmarks TOOL [RULES]: measures the server that TOOL is, through libmongoc on loopback;
// with a folder of rules, a gateway under these rules beside its upstream.

/// How long an operation took: in the middle, and the slowest of a hundred; microseconds.
struct Latency {
    let middle: Double
    let slow: Double

    init(_ nanoseconds: [Double]) {
        let sorted = nanoseconds.sorted()
        middle = sorted[sorted.count / 2] / 1_000
        slow = sorted[min(sorted.count - 1, sorted.count * 99 / 100)] / 1_000
    }
}

/// Runs an operation through the driver on several connections at once; all latencies, and
/// operations in a second.
func served(_ address: String, _ row: ServerRow, connections: Int) -> ([Double], Double) {
    var times = [Double](repeating: 0, count: row.count * connections)
    let start = ContinuousClock.now
    let code = driver_run(address, row.driverRow, connections, row.count, &times)
    precondition(code == 0, "\(row.rawValue) fails")
    return (times, Double(times.count) / ((ContinuousClock.now - start) / .seconds(1)))
}

func text(_ value: Double, _ width: Int = 10) -> String {
    let digits = value < 100 ? String(format: "%.1f", value) : String(format: "%.0f", value)
    return String(repeating: " ", count: max(0, width - digits.count)) + digits
}

func pad(_ text: String) -> String {
    text + String(repeating: " ", count: max(0, 32 - text.count))
}

func measureServer(_ tool: String) throws {
    let server = try ServedStore(tool: tool)
    let local = try LocalStore()
    precondition(driver_prepare(server.address) == 0, "the server takes documents")
    print(
        pad("through libmongoc, microseconds")
            + "     store    server       p99     added    per s, 4 connections")
    for row in ServerRow.allCases {
        let own = row == .ping ? Latency([0]) : Latency(try local.run(row, count: row.count))
        let (times, _) = served(server.address, row, connections: 1)
        let latency = Latency(times)
        let rate = served(server.address, row, connections: 4).1
        print(
            pad(row.rawValue) + text(own.middle) + text(latency.middle) + text(latency.slow)
                + text(latency.middle - own.middle) + text(rate, 9))
    }
    let before = try server.memory()
    for readers in [1, 1_000] {
        var times = [Double](repeating: 0, count: readers)
        let documents = 10
        precondition(
            driver_follow(server.address, server.address, readers, documents, &times) == 0,
            "streams end")
        let latency = Latency(times)
        let events = Double(readers * documents) / latency.slow * 1e6
        print(
            pad("\(readers) change streams, 10 inserts") + text(0) + text(latency.middle)
                + text(latency.slow) + text(0) + text(events, 9)
                + "   events; server \(before) -> \(try server.memory()) MiB")
    }
    try local.end()
    try server.end()
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count > 1 {
    try MiddleBenchmark(tool: arguments[0], rules: arguments[1]).run()
} else {
    try measureServer(arguments.first ?? "stitchsync")
}
